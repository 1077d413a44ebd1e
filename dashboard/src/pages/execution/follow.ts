/** Follows a stream of an execution while it is written, and keeps its newest items. */
import { useEffect, useState } from 'react'
import { addressOf } from '../../api/call.ts'

/** The newest items that are kept in the page. */
const KEPT = 1_000

export interface Followed<Item> {
  readonly items: readonly Item[]
  /** Items that are not kept in the page any more. */
  readonly dropped: number
  readonly isOver: boolean
}

/** `kinds` are the names of the messages that are items. */
export function useFollowed<Item>(
  route: 'followFrames' | 'followLogs',
  asked: { readonly id: string; readonly level?: string | undefined },
  kinds: readonly string[],
): Followed<Item> {
  const { id, level } = asked
  const [followed, setFollowed] = useState<Followed<Item>>({ items: [], dropped: 0, isOver: false })
  const names = kinds.join()
  useEffect(() => {
    setFollowed({ items: [], dropped: 0, isOver: false })
    const source = new EventSource(addressOf(route, { params: { id }, query: { level } }))
    let waiting: Item[] = []
    let frame: number | undefined
    // Items arrive by the hundred: they are shown together, once per image.
    const show = () => {
      frame = undefined
      const added = waiting
      waiting = []
      setFollowed(({ items, dropped, isOver }) => {
        const all = [...items, ...added]
        const kept = all.slice(-KEPT)
        return { items: kept, dropped: dropped + all.length - kept.length, isOver }
      })
    }
    const add = (message: MessageEvent<string>) => {
      waiting.push(JSON.parse(message.data) as Item)
      frame ??= requestAnimationFrame(show)
    }
    for (const kind of names.split(',')) source.addEventListener(kind, add)
    source.addEventListener('end', () => {
      source.close()
      setFollowed((before) => ({ ...before, isOver: true }))
    })
    return () => {
      source.close()
      if (frame !== undefined) cancelAnimationFrame(frame)
    }
  }, [route, id, level, names])
  return followed
}
