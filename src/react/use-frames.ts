/** Follows the frames of an execution. */
import { useState } from 'react'
import type { HttpClient } from '../http/http-client.ts'
import type { EventOf } from '../http/types.ts'
import { Followed, useFollowed } from './followed.ts'
import type { Follow, Following } from './followed.ts'
import { useOf } from './use-of.ts'

type Item = EventOf<'/v1/executions/{id}/frames/live'>

/** A frame. Bytes are base64, as `valueBytes`. */
export interface SeenFrame<Value = unknown> {
  readonly name: string
  readonly value: Value
  readonly valueBytes: string | undefined
  readonly attempt: number
  readonly sequence: number
  readonly isLive: boolean
  readonly at: number
}

export interface FramesView<Value = unknown> extends Following {
  /** The newest frames, in order. */
  readonly frames: readonly SeenFrame<Value>[]
  /** The attempt that writes now. Raised when a worker was lost or a try has failed: its frames follow those of the last try. */
  readonly attempt: number | undefined
  /** How many durable frames were removed before they could be read. */
  readonly trimmedCount: number
  /** Continues behind what was received, as the option `from`, for example after a reload. */
  readonly cursor: string | undefined
}

export interface FramesViewOptions {
  /** Frames of one name. All unless given. */
  readonly name?: string
  /** Continues behind this cursor. */
  readonly from?: string
  /** How many frames are kept in memory; 10,000 unless given. */
  readonly max?: number
}

const FRAMES_MAX = 10_000

const NOTHING: FramesView = {
  status: 'connecting',
  error: undefined,
  frames: [],
  attempt: undefined,
  trimmedCount: 0,
  cursor: undefined,
}

/**
 * Returns the frames of an execution, those that are kept and new ones as they are written, until it ends. Without an id it returns none.
 *
 * @example
 * const { frames, status } = useFrames<string>(api, id, { name: 'token' })
 * return <p>{frames.map(({ value }) => value).join('')}</p>
 */
export function useFrames<Value = unknown>(
  api: HttpClient,
  id: string | undefined,
  options: FramesViewOptions = {},
): FramesView<Value> {
  const { name, max = FRAMES_MAX } = options
  // A new place to begin is not another stream: what is followed already continues.
  const [from] = useState(options.from)
  const followed = useOf([api, id, name, max], () => followFrames(api, id, name, from, max))
  return useFollowed(followed) as FramesView<Value>
}

function followFrames(
  api: HttpClient,
  id: string | undefined,
  name: string | undefined,
  from: string | undefined,
  max: number,
): Followed<FramesView> {
  if (id === undefined) return new Followed<FramesView>({ ...NOTHING, status: 'idle' }, undefined)
  const received: SeenFrame[] = []
  let last = from
  const follow: Follow<FramesView> = async (change, signal) => {
    const asked = { params: { id }, query: name === undefined ? {} : { name }, signal }
    const position = last === undefined ? {} : { lastEventId: last }
    const onOpen = () => change((view) => view)
    const path = '/v1/executions/{id}/frames/live'
    for await (const { id: cursor, data } of api.events(path, { ...asked, ...position, onOpen })) {
      last = cursor
      if (data.kind === 'frame') {
        received.push(frameOf(data))
        if (received.length > 2 * max) received.splice(0, received.length - max)
      }
      change((view) => ({ ...view, ...fieldsOf(view, data), cursor }))
    }
  }
  return new Followed(NOTHING, follow, (view) => ({ ...view, frames: received.slice(-max) }))
}

function fieldsOf(view: FramesView, item: Item): Partial<FramesView> {
  if (item.kind === 'trimmed') return { trimmedCount: view.trimmedCount + (item.count ?? 0) }
  return { attempt: item.attempt }
}

function frameOf(item: Extract<Item, { readonly kind: 'frame' }>): SeenFrame {
  const { name, value, valueBytes, attempt, sequence, isLive, at } = item
  return { name, value, valueBytes, attempt, sequence, isLive, at }
}
