// The image is shown before any attention is decoded.
window.addEventListener("hashchange", () => {
  fromHash();
  refresh();
});
fromHash();
requestAnimationFrame(() => setTimeout(refresh, 0));
