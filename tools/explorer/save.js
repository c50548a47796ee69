// The map as a file: the image, the colours over it, the outline and the bar, under a title.
const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

function describeMap() {
  if (state.method === "relevance") return `relevance for ${facts.relevance[state.target].label}`;
  const head = state.method === "rollout" ? `rollout, ${headName(state.fusion)}` : `${layerTitle(shownLayer())}, ${headName(state.head)}`;
  return `${head}, query ${tokenName(currentQuery())}`;
}

function savedSvg() {
  const photo = $("photo"), margin = 20, top = 74, width = photo.naturalWidth, height = photo.naturalHeight;
  const high = top + height + 58, wide = width + 2 * margin;
  const text = (x, y, size, content, more = "") => `<text x="${x}" y="${y}" font-size="${size}" ${more}>${escaped(content)}</text>`;
  // As long as the picture is wide, at most: a long title gets smaller letters.
  const fitted = (y, size, content, more) => text(margin, y, Math.min(size, (1.7 * width) / content.length), content, more);
  const faint = `fill="#6e747e"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" font-family="'DejaVu Sans','Noto Sans',Verdana,Arial,sans-serif" fill="#1c1e22">
<title>${escaped(facts.title)} – ${escaped(describeMap())}</title>
<defs><filter id="pale"><feColorMatrix type="saturate" values="${1 - 0.6 * state.opacity / 100}"/></filter></defs>
<rect width="100%" height="100%" fill="#fff"/>
${fitted(34, 22, facts.title, `font-weight="bold"`)}
${fitted(58, 14, describeMap(), faint)}
<image x="${margin}" y="${top}" width="${width}" height="${height}" filter="url(#pale)" xlink:href="${photo.src}"/>
<image x="${margin}" y="${top}" width="${width}" height="${height}" opacity="${state.opacity / 100}" preserveAspectRatio="none" style="image-rendering:${state.smooth ? "auto" : "pixelated"}" xlink:href="${heat.toDataURL()}"/>
<svg x="${margin}" y="${top}" width="${width}" height="${height}" viewBox="0 0 ${cols} ${rows}" preserveAspectRatio="none">${marks.innerHTML}</svg>
<image x="${margin}" y="${top + height + 12}" width="${width}" height="10" preserveAspectRatio="none" xlink:href="${$("bar").toDataURL()}"/>
${text(margin, top + height + 40, 13, $("least").textContent, faint)}
${text(margin + width / 2, top + height + 40, 13, $("what").textContent, `${faint} text-anchor="middle"`)}
${text(margin + width, top + height + 40, 13, $("most").textContent, `${faint} text-anchor="end"`)}
</svg>
`;
}

function download(blob, ending) {
  const link = document.createElement("a"), name = facts.subtitle.split(",")[0].replace(/\.[^.]*$/, "") || "map";
  link.href = URL.createObjectURL(blob);
  link.download = `${name}-${describeMap().replace(/[^\p{L}\p{N}]+/gu, "-")}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

$("save-svg").addEventListener("click", () => download(new Blob([savedSvg()], { type: "image/svg+xml" }), "svg"));
$("save-png").addEventListener("click", () => {
  const picture = new Image();
  picture.addEventListener("load", () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
    canvas.getContext("2d").drawImage(picture, 0, 0);
    canvas.toBlob((blob) => download(blob, "png"), "image/png");
  });
  picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(savedSvg());
});
