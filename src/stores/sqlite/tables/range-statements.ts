/** Builds statements for ranges of an index: one for each shape of a range, prepared on first use. */
import type { StatementSync } from 'node:sqlite'
import type { Range } from '../../../kernel/index.ts'
import type { Connection } from '../connection/connection.ts'

/** Builds a statement from a condition and an order. Its last argument is the limit. */
type StatementText = (condition: string, order: string) => string

export class RangeStatements {
  readonly #connection: Connection
  readonly #text: StatementText
  readonly #statements: (StatementSync | undefined)[] = []

  constructor(connection: Connection, text: StatementText) {
    this.#connection = connection
    this.#text = text
  }

  for(range: Range): StatementSync {
    const shape = shapeOf(range)
    const known = this.#statements[shape]
    if (known !== undefined) return known
    const statement = this.#connection.prepare(this.#text(conditionOf(range), orderOf(range)))
    this.#statements[shape] = statement
    return statement
  }
}

function shapeOf({ from, to, reverse }: Range): number {
  return (
    (from === undefined ? 0 : from.id === undefined ? 1 : 2) + (to === undefined ? 0 : 3) + (reverse === true ? 6 : 0)
  )
}

function conditionOf({ from, to, reverse }: Range): string {
  const [past, within] = reverse === true ? ['<', '>='] : ['>', '<=']
  const begin =
    from === undefined ? '' : from.id === undefined ? ` and score ${past}= ?` : ` and (score, id) ${past} (?, ?)`
  const end = to === undefined ? '' : ` and score ${within} ?`
  return `partition = ? and name = ?${begin}${end}`
}

function orderOf({ reverse }: Range): string {
  return reverse === true ? 'score desc, id desc' : 'score, id'
}

/** Returns the arguments of a statement, in the order of its condition. */
export function argumentsOf(partition: number, { index, from, to, limit }: Range): (string | number)[] {
  const values: (string | number)[] = [partition, index]
  if (from !== undefined) values.push(from.score)
  if (from?.id !== undefined) values.push(from.id)
  if (to !== undefined) values.push(to)
  values.push(limit)
  return values
}
