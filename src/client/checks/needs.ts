/** Validates each of a list of needs or capabilities, which follow the same rules. `canonicalList` limits their number and size. */
import { checkList, invalidInput, show } from './names.ts'

// eslint-disable-next-line no-control-regex -- control bytes separate names in indexes
const FORBIDDEN = /[\u0000-\u0020\u007f,]/

export function checkNeeds(value: unknown, field: string): string[] {
  checkList(value, field)
  return value.map((need) => {
    if (typeof need === 'string' && need !== '' && need.isWellFormed() && !FORBIDDEN.test(need)) return need
    throw invalidInput(
      field,
      `${field} contains ${show(need)}, but must be a list of texts such as 'gpu' without spaces, commas and control characters.`,
    )
  })
}
