/** Stands in for string-width in the bundle: every text that yargs lays out here is ASCII. */
export default function stringWidth(text) {
  return text.length;
}
