// The image is on the screen before a byte of attention is decoded.
window.addEventListener("hashchange", () => {
  fromHash();
  refresh();
});
fromHash();
requestAnimationFrame(() => setTimeout(refresh, 0));
