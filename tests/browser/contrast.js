() => {
  // Text that can hardly be told from its ground: below 4.5 to 1.
  const part = (value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const read = (text) => text.match(/[\d.]+/g).map(Number);
  const ground = (start) => {
    for (let node = start; node; node = node.parentElement) {
      const colour = read(getComputedStyle(node).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("#page *")]
    .filter((node) => [...node.childNodes].some((each) => each.nodeType === 3 && each.data.trim()))
    .filter((node) => node.checkVisibility() && !node.closest("svg"))
    .map((node) => {
      const [a, b] = [light(read(getComputedStyle(node).color)), light(ground(node))];
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.outerHTML.slice(0, 80)];
    })
    .filter(([ratio]) => ratio < 4.5);
}
