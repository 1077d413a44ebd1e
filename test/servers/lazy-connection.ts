/** A connection that is opened when it is first needed, and again when it was lost. */
export class LazyConnection<Connection> {
  readonly #open: (forget: () => void) => Promise<Connection>
  #opened: Promise<Connection> | undefined

  /** `open` calls `forget` when the connection that it has opened is lost. */
  constructor(open: (forget: () => void) => Promise<Connection>) {
    this.#open = open
  }

  get(): Promise<Connection> {
    if (this.#opened !== undefined) return this.#opened
    const forget = (): void => {
      if (this.#opened === opened) this.#opened = undefined
    }
    const opened = this.#open(forget)
    this.#opened = opened
    opened.catch(forget)
    return opened
  }

  /** The connection, if there is one, to be closed by who asks. The next one is opened anew. */
  async release(): Promise<Connection | undefined> {
    const opened = this.#opened
    this.#opened = undefined
    return opened?.catch(() => undefined)
  }
}
