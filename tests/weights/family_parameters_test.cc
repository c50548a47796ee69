// The number of parameters of every architecture of eva.py, beit.py, cait.py,
// vision_transformer_relpos.py and naflexvit.py, as timm 1.0.29 builds it with its default classes.
#include <gtest/gtest.h>

#include <utility>

#include "weights/known/architectures.h"
#include "weights/tensor_list.h"

namespace vit::weights {
namespace {

constexpr std::pair<const char*, size_t> kParameters[] = {
    {"beit_base_patch16_224", 86'530'984},
    {"beit_base_patch16_384", 86'744'104},
    {"beit_large_patch16_224", 304'430'568},
    {"beit_large_patch16_384", 304'998'888},
    {"beit_large_patch16_512", 305'674'728},
    {"beitv2_base_patch16_224", 86'530'984},
    {"beitv2_large_patch16_224", 304'430'568},
    {"cait_m36_384", 271'221'352},
    {"cait_m48_448", 356'460'520},
    {"cait_s24_224", 46'916'200},
    {"cait_s24_384", 47'062'120},
    {"cait_s36_384", 68'366'632},
    {"cait_xs24_384", 26'670'088},
    {"cait_xxs24_224", 11'956'264},
    {"cait_xxs24_384", 12'029'224},
    {"cait_xxs36_224", 17'299'720},
    {"cait_xxs36_384", 17'372'680},
    {"eva02_base_patch14_224", 85'758'720},
    {"eva02_base_patch14_448", 87'117'544},
    {"eva02_base_patch16_clip_224", 86'263'040},
    {"eva02_enormous_patch14_clip_224", 4'350'556'928},
    {"eva02_large_patch14_224", 303'268'800},
    {"eva02_large_patch14_448", 305'080'232},
    {"eva02_large_patch14_clip_224", 304'105'152},
    {"eva02_large_patch14_clip_336", 304'432'832},
    {"eva02_small_patch14_224", 21'621'120},
    {"eva02_small_patch14_336", 22'129'000},
    {"eva02_tiny_patch14_224", 5'502'144},
    {"eva02_tiny_patch14_336", 5'756'584},
    {"eva_giant_patch14_224", 1'012'555'112},
    {"eva_giant_patch14_336", 1'013'005'672},
    {"eva_giant_patch14_560", 1'014'447'464},
    {"eva_giant_patch14_clip_224", 1'012'588'928},
    {"naflexvit_base_patch16_gap", 86'633'704},
    {"naflexvit_base_patch16_map", 93'718'504},
    {"naflexvit_base_patch16_par_gap", 86'633'704},
    {"naflexvit_base_patch16_parfac_gap", 86'461'672},
    {"naflexvit_base_patch16_siglip", 92'930'304},
    {"naflexvit_so150m2_patch16_reg1_gap", 136'058'728},
    {"naflexvit_so150m2_patch16_reg1_map", 142'457'320},
    {"naflexvit_so400m_patch16_siglip", 427'888'064},
    {"vit_7b_patch16_dinov3", 6'716'030'976},
    {"vit_base_patch16_dinov3", 85'641'216},
    {"vit_base_patch16_dinov3_qkvb", 85'659'648},
    {"vit_base_patch16_rope_224", 86'434'792},
    {"vit_base_patch16_rope_ape_224", 86'585'320},
    {"vit_base_patch16_rope_mixed_224", 86'444'008},
    {"vit_base_patch16_rope_mixed_ape_224", 86'594'536},
    {"vit_base_patch16_rope_reg1_gap_256", 86'425'576},
    {"vit_betwixt_patch16_rope_reg4_gap_256", 60'226'920},
    {"vit_huge_plus_patch16_dinov3", 840'509'440},
    {"vit_huge_plus_patch16_dinov3_qkvb", 840'591'360},
    {"vit_large_patch16_dinov3", 303'079'424},
    {"vit_large_patch16_dinov3_qkvb", 303'128'576},
    {"vit_large_patch16_rope_224", 304'174'056},
    {"vit_large_patch16_rope_ape_224", 304'374'760},
    {"vit_large_patch16_rope_mixed_224", 304'198'632},
    {"vit_large_patch16_rope_mixed_ape_224", 304'399'336},
    {"vit_medium_patch16_rope_reg1_gap_256", 38'743'016},
    {"vit_mediumd_patch16_rope_reg1_gap_256", 63'945'704},
    {"vit_pe_core_base_patch16_224", 93'673'984},
    {"vit_pe_core_gigantic_patch14_448", 1'882'033'920},
    {"vit_pe_core_large_patch14_336", 317'152'256},
    {"vit_pe_core_small_patch16_384", 23'783'168},
    {"vit_pe_core_tiny_patch16_384", 6'141'056},
    {"vit_pe_lang_gigantic_patch14_448", 1'740'922'624},
    {"vit_pe_lang_large_patch14_448", 291'415'040},
    {"vit_pe_spatial_base_patch16_512", 86'433'792},
    {"vit_pe_spatial_gigantic_patch14_448", 1'851'887'104},
    {"vit_pe_spatial_large_patch14_448", 303'964'160},
    {"vit_pe_spatial_small_patch16_512", 21'983'232},
    {"vit_pe_spatial_tiny_patch16_512", 5'683'200},
    {"vit_relpos_base_patch16_224", 86'429'560},
    {"vit_relpos_base_patch16_cls_224", 86'430'328},
    {"vit_relpos_base_patch16_clsgap_224", 86'430'328},
    {"vit_relpos_base_patch16_plus_240", 117'380'880},
    {"vit_relpos_base_patch16_rpn_224", 86'411'128},
    {"vit_relpos_base_patch32_plus_rpn_256", 119'423'760},
    {"vit_relpos_medium_patch16_224", 38'747'208},
    {"vit_relpos_medium_patch16_cls_224", 38'764'616},
    {"vit_relpos_medium_patch16_rpn_224", 38'734'920},
    {"vit_relpos_small_patch16_224", 21'983'920},
    {"vit_relpos_small_patch16_rpn_224", 21'974'704},
    {"vit_small_patch16_dinov3", 21'586'944},
    {"vit_small_patch16_dinov3_qkvb", 21'596'160},
    {"vit_small_patch16_rope_224", 21'984'232},
    {"vit_small_patch16_rope_ape_224", 22'059'496},
    {"vit_small_patch16_rope_mixed_224", 21'988'840},
    {"vit_small_patch16_rope_mixed_ape_224", 22'064'104},
    {"vit_small_plus_patch16_dinov3", 28'683'264},
    {"vit_small_plus_patch16_dinov3_qkvb", 28'692'480},
    {"vit_srelpos_medium_patch16_224", 38'735'856},
    {"vit_srelpos_small_patch16_224", 21'973'486},
    {"vit_tiny_patch16_dinov3_qkvb", 5'489'664},
};

TEST(FamilyParameters, AreAsManyAsTimmBuilds) {
  for (const auto& [name, expected] : kParameters) {
    size_t sum = 0;
    for (const TensorSpec& spec : tensors_of(config_of(name))) sum += element_count(spec.shape);
    EXPECT_EQ(sum, expected) << name;
  }
  EXPECT_EQ(std::size(kParameters), 94u);
}

}  // namespace
}  // namespace vit::weights
