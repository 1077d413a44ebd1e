/** Cursors of lists that continue after an id. Such ids are made of names, so the cursor encodes them. */
import { EngineError } from '../../kernel/engine-error.ts'
import type { Position } from '../../kernel/index.ts'

/** The place of an entry in an index. */
interface Place {
  readonly score: number
  readonly id: string
}

export interface CursorCodec<T> {
  readonly encode: (place: T) => string
  /** Throws `invalid_cursor` unless it is a cursor of this list. */
  readonly decode: (cursor: unknown) => T
}

/** The cursors of a list that is in the order of its ids. `mark` names the list and the version of its cursors. */
export function idCursor(mark: string): CursorCodec<string> {
  const form = new RegExp(`^${mark}\\.([A-Za-z0-9_-]+)$`)
  return {
    encode: (id) => `${mark}.${Buffer.from(id).toString('base64url')}`,
    decode: (cursor) => idIn(partsOf(cursor, form)[1]),
  }
}

/** The cursors of a list that is in the order of scores, and of ids where scores are equal. */
export function positionCursor(mark: string): CursorCodec<Place> {
  const form = new RegExp(`^${mark}\\.(-?\\d{1,16})\\.([A-Za-z0-9_-]+)$`)
  return {
    encode: ({ score, id }) => `${mark}.${score}.${Buffer.from(id).toString('base64url')}`,
    decode: (cursor) => {
      const [, score, id] = partsOf(cursor, form)
      if (!Number.isSafeInteger(Number(score))) throw invalidCursor()
      return { score: Number(score), id: idIn(id) }
    },
  }
}

/** Returns the cursor of the position that an answer continues after, if it continues. */
export function cursorOf(codec: CursorCodec<Place>, next: Position | undefined): string | undefined {
  return next?.id === undefined ? undefined : codec.encode({ score: next.score, id: next.id })
}

function partsOf(cursor: unknown, form: RegExp): RegExpExecArray {
  const parts = typeof cursor === 'string' ? form.exec(cursor) : null
  if (parts === null) throw invalidCursor()
  return parts
}

/** No id contains a null character, and PostgreSQL refuses a text with one. */
function idIn(encoded = ''): string {
  const id = Buffer.from(encoded, 'base64url').toString()
  if (id.includes('\0')) throw invalidCursor()
  return id
}

function invalidCursor(): EngineError {
  return new EngineError('invalid_cursor', { field: 'cursor' })
}
