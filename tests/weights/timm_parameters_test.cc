// Every architecture of EVA, BEiT, CaiT, relpos and NaFlex has the parameters that timm counts.
#include <gtest/gtest.h>

#include "weights/known/architectures.h"
#include "weights/tensor_list.h"

namespace vit::weights {
namespace {

struct Count {
  const char* architecture;
  size_t parameters;  ///< of timm 1.0.29, with the classes of the default checkpoint
};

constexpr Count kCounts[] = {
    {"beit_base_patch16_224", 86530984},
    {"beit_base_patch16_384", 86744104},
    {"beit_large_patch16_224", 304430568},
    {"beit_large_patch16_384", 304998888},
    {"beit_large_patch16_512", 305674728},
    {"beitv2_base_patch16_224", 86530984},
    {"beitv2_large_patch16_224", 304430568},
    {"cait_m36_384", 271221352},
    {"cait_m48_448", 356460520},
    {"cait_s24_224", 46916200},
    {"cait_s24_384", 47062120},
    {"cait_s36_384", 68366632},
    {"cait_xs24_384", 26670088},
    {"cait_xxs24_224", 11956264},
    {"cait_xxs24_384", 12029224},
    {"cait_xxs36_224", 17299720},
    {"cait_xxs36_384", 17372680},
    {"eva02_base_patch14_224", 85758720},
    {"eva02_base_patch14_448", 87117544},
    {"eva02_base_patch16_clip_224", 86263040},
    {"eva02_enormous_patch14_clip_224", 4350556928},
    {"eva02_large_patch14_224", 303268800},
    {"eva02_large_patch14_448", 305080232},
    {"eva02_large_patch14_clip_224", 304105152},
    {"eva02_large_patch14_clip_336", 304432832},
    {"eva02_small_patch14_224", 21621120},
    {"eva02_small_patch14_336", 22129000},
    {"eva02_tiny_patch14_224", 5502144},
    {"eva02_tiny_patch14_336", 5756584},
    {"eva_giant_patch14_224", 1012555112},
    {"eva_giant_patch14_336", 1013005672},
    {"eva_giant_patch14_560", 1014447464},
    {"eva_giant_patch14_clip_224", 1012588928},
    {"naflexvit_base_patch16_gap", 86633704},
    {"naflexvit_base_patch16_map", 93718504},
    {"naflexvit_base_patch16_par_gap", 86633704},
    {"naflexvit_base_patch16_parfac_gap", 86461672},
    {"naflexvit_base_patch16_siglip", 92930304},
    {"naflexvit_so150m2_patch16_reg1_gap", 136058728},
    {"naflexvit_so150m2_patch16_reg1_map", 142457320},
    {"naflexvit_so400m_patch16_siglip", 427888064},
    {"vit_7b_patch16_dinov3", 6716030976},
    {"vit_base_patch16_dinov3", 85641216},
    {"vit_base_patch16_dinov3_qkvb", 85659648},
    {"vit_base_patch16_rope_224", 86434792},
    {"vit_base_patch16_rope_ape_224", 86585320},
    {"vit_base_patch16_rope_mixed_224", 86444008},
    {"vit_base_patch16_rope_mixed_ape_224", 86594536},
    {"vit_base_patch16_rope_reg1_gap_256", 86425576},
    {"vit_betwixt_patch16_rope_reg4_gap_256", 60226920},
    {"vit_huge_plus_patch16_dinov3", 840509440},
    {"vit_huge_plus_patch16_dinov3_qkvb", 840591360},
    {"vit_large_patch16_dinov3", 303079424},
    {"vit_large_patch16_dinov3_qkvb", 303128576},
    {"vit_large_patch16_rope_224", 304174056},
    {"vit_large_patch16_rope_ape_224", 304374760},
    {"vit_large_patch16_rope_mixed_224", 304198632},
    {"vit_large_patch16_rope_mixed_ape_224", 304399336},
    {"vit_medium_patch16_rope_reg1_gap_256", 38743016},
    {"vit_mediumd_patch16_rope_reg1_gap_256", 63945704},
    {"vit_pe_core_base_patch16_224", 93673984},
    {"vit_pe_core_gigantic_patch14_448", 1882033920},
    {"vit_pe_core_large_patch14_336", 317152256},
    {"vit_pe_core_small_patch16_384", 23783168},
    {"vit_pe_core_tiny_patch16_384", 6141056},
    {"vit_pe_lang_gigantic_patch14_448", 1740922624},
    {"vit_pe_lang_large_patch14_448", 291415040},
    {"vit_pe_spatial_base_patch16_512", 86433792},
    {"vit_pe_spatial_gigantic_patch14_448", 1851887104},
    {"vit_pe_spatial_large_patch14_448", 303964160},
    {"vit_pe_spatial_small_patch16_512", 21983232},
    {"vit_pe_spatial_tiny_patch16_512", 5683200},
    {"vit_relpos_base_patch16_224", 86429560},
    {"vit_relpos_base_patch16_cls_224", 86430328},
    {"vit_relpos_base_patch16_clsgap_224", 86430328},
    {"vit_relpos_base_patch16_plus_240", 117380880},
    {"vit_relpos_base_patch16_rpn_224", 86411128},
    {"vit_relpos_base_patch32_plus_rpn_256", 119423760},
    {"vit_relpos_medium_patch16_224", 38747208},
    {"vit_relpos_medium_patch16_cls_224", 38764616},
    {"vit_relpos_medium_patch16_rpn_224", 38734920},
    {"vit_relpos_small_patch16_224", 21983920},
    {"vit_relpos_small_patch16_rpn_224", 21974704},
    {"vit_small_patch16_dinov3", 21586944},
    {"vit_small_patch16_dinov3_qkvb", 21596160},
    {"vit_small_patch16_rope_224", 21984232},
    {"vit_small_patch16_rope_ape_224", 22059496},
    {"vit_small_patch16_rope_mixed_224", 21988840},
    {"vit_small_patch16_rope_mixed_ape_224", 22064104},
    {"vit_small_plus_patch16_dinov3", 28683264},
    {"vit_small_plus_patch16_dinov3_qkvb", 28692480},
    {"vit_srelpos_medium_patch16_224", 38735856},
    {"vit_srelpos_small_patch16_224", 21973486},
    {"vit_tiny_patch16_dinov3_qkvb", 5489664},
};

TEST(Architectures, OfFurtherFamiliesHaveTheParametersThatTimmCounts) {
  EXPECT_EQ(std::size(kCounts), 94u);
  for (const auto& [architecture, parameters] : kCounts) {
    size_t sum = 0;
    for_each_tensor(config_of(architecture), [&](const TensorSpec& spec) { sum += spec.size(); });
    EXPECT_EQ(sum, parameters) << architecture;
  }
}

}  // namespace
}  // namespace vit::weights
