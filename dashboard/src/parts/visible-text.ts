/** Makes characters visible that are drawn as nothing or change the direction of a text, so that no text looks like another. */

/** Control and format characters, separators of lines, and all that is drawn as nothing; not line breaks and tabs. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Emoji are shown as they are: some contain joiners and selectors. */
const EMOJI = /\p{RGI_Emoji}/v

export interface TextPart {
  readonly text: string
  readonly isHidden: boolean
}

/** Splits a text into what is shown as it is, and names of characters such as `U+202E`. */
export function visibleParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let start = 0
  for (const { 0: hidden, index } of text.matchAll(HIDDEN)) {
    if (isInEmoji(text, index)) continue
    if (index > start) parts.push({ text: text.slice(start, index), isHidden: false })
    parts.push({ text: nameOf(hidden), isHidden: true })
    start = index + hidden.length
  }
  if (start < text.length) parts.push({ text: text.slice(start), isHidden: false })
  return parts
}

/** The same as one string, for places that take no markup. */
export function visible(text: string): string {
  return visibleParts(text)
    .map((part) => (part.isHidden ? `[${part.text}]` : part.text))
    .join('')
}

/** An emoji has at most 14 units around a joiner. */
const EMOJI_REACH = 14

function isInEmoji(text: string, index: number): boolean {
  const around = text.slice(Math.max(0, index - EMOJI_REACH), index + EMOJI_REACH)
  const place = Math.min(index, EMOJI_REACH)
  const match = new RegExp(EMOJI.source, 'gv')
  for (const found of around.matchAll(match)) {
    if (found.index <= place && place < found.index + found[0].length) return true
  }
  return false
}

function nameOf(hidden: string): string {
  return `U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
