import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { principalOf, readableText, visibleText } from './visible-text.ts'

const invisible = [
  ['a null', 'a\u0000da'],
  ['a line break', 'ada\nbob'],
  ['a control of the second block', 'ad\u0085a'],
  ['a delete', 'ad\u007fa'],
  ['half a pair of surrogates', 'ada\ud800'],
  ['halves in the wrong order', '\udc00\ud800'],
  ['a soft hyphen', 'a\u00adda'],
  ['a zero-width space', 'a\u200bda'],
  ['a zero-width joiner', 'a\u200dda'],
  ['a mark from right to left', 'ada\u200f'],
  ['an override from right to left', 'a\u202eda'],
  ['an isolate', '\u2066ada\u2069'],
  ['a line separator', 'ada\u2028bob'],
  ['a byte order mark', '\ufeffada'],
  ['a no-break space', 'ada\u00a0l'],
  ['an ideographic space', 'ada\u3000l'],
  ['a filler', 'ada\u3164'],
  ['an empty braille cell', 'ada\u2800'],
  ['a variation selector', 'ada\ufe0f'],
  ['a tag character', 'ada\u{e0041}'],
  ['a grapheme joiner', 'a\u034fda'],
] as const

describe('a text that is compared', () => {
  test.each(invisible)('has not %s', (_what, text) => {
    expect(visibleText(text)).toBeUndefined()
    expect(readableText(text)).toBeUndefined()
    expect(principalOf(text)).toBeUndefined()
  })

  test.each([
    ['a joiner', '👩\u200d💻'],
    ['a variation selector', '❤\ufe0f'],
    ['tags', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
    ['a joiner and a selector', '🏳\ufe0f\u200d🌈'],
  ])('has no emoji with %s; a text that is only read may have it', (_what, emoji) => {
    expect(visibleText(emoji)).toBeUndefined()
    expect(principalOf(`ada ${emoji}`)).toBeUndefined()
    expect(readableText(`done ${emoji}${emoji}!`)).toBe(`done ${emoji}${emoji}!`)
  })

  test.each([
    ['a joiner after an emoji', '👩\u200d'],
    ['a joiner between emoji that are none together', '👩\u200d👩'],
    ['a selector after a digit', '1\ufe0f'],
    ['tags that are not finished', '🏴\u{e0067}\u{e0062}'],
    ['an override beside an emoji', '❤\ufe0f\u202e'],
    ['half a pair of surrogates beside an emoji', '❤\ufe0f\ud83d'],
  ])('has not %s, even if it is only read', (_what, text) => {
    expect(readableText(text)).toBeUndefined()
  })

  test.each([undefined, null, 7, {}, ['ada'], Symbol('ada')])('is a text, and not %s', (value) => {
    expect(visibleText(value)).toBeUndefined()
  })

  test.each(['ada', 'Ada Lovelace', 'ада', '愛', 'ada@example.com', '👩', 'a’b', "o'neil", 'ﬁ'])(
    'may be %s',
    (text) => {
      expect(principalOf(text)).toBe(text)
    },
  )

  test('is the same in every form of Unicode', () => {
    expect(principalOf('Zo\u0065\u0308')).toBe(principalOf('Zo\u00eb'))
    expect(principalOf('\u212b')).toBe('\u00c5')
  })

  test.each([visibleText, readableText])('is unchanged by a second look, and well-formed', (look) => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const seen = look(text)
        if (seen === undefined) return
        expect(look(seen)).toBe(seen)
        expect(seen.isWellFormed()).toBe(true)
      }),
    )
  })
})

test('a principal is neither empty nor padded, and any other text may be', () => {
  for (const text of ['', ' ', ' ada', 'ada ']) {
    expect(principalOf(text)).toBeUndefined()
    expect(visibleText(text)).toBe(text)
    expect(readableText(text)).toBe(text)
  }
})
