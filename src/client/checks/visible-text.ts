/**
 * Texts that people read and that are compared: principals, reasons, values of tags. Two texts that look the same must be the
 * same, on every store. So they are well-formed Unicode in normal form C, without control characters and without
 * invisible ones.
 */

/** Control and format characters, line breaks, every space but the ordinary one, and all that is drawn as nothing. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u

/** The emoji of Unicode, each as a whole: some contain joiners, variation selectors or tags, which are invisible on their own. */
const EMOJI = /\p{RGI_Emoji}/gv

/** Returns the text in normal form; undefined if it is none, or has an invisible character. */
export function visibleText(value: unknown): string | undefined {
  if (typeof value !== 'string' || !value.isWellFormed() || INVISIBLE.test(value)) return undefined
  return value.normalize('NFC')
}

/**
 * Returns a text that people read, but that nothing compares, in normal form; undefined if it is none, or has an invisible
 * character outside an emoji.
 */
export function readableText(value: unknown): string | undefined {
  if (typeof value !== 'string' || !value.isWellFormed() || INVISIBLE.test(value.replaceAll(EMOJI, ' ')))
    return undefined
  return value.normalize('NFC')
}

/** Returns the name of a person or program in normal form; undefined if it is empty or has spaces at its ends. */
export function principalOf(value: unknown): string | undefined {
  const text = visibleText(value)
  return text === undefined || text === '' || text.trim() !== text ? undefined : text
}
