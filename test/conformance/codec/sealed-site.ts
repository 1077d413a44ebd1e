/** A fabric on a store of a target, with a record of all bytes that reach the store. */
import { onTestFinished } from 'vitest'
import { CodecChain } from '../../../src/codec/index.ts'
import type { ValueCodec } from '../../../src/codec/index.ts'
import { Fabric } from '../../../src/fabric/fabric.ts'
import { silentLog, systemRuntime } from '../../../src/runtime/index.ts'
import type { Answer, Call, Partition, Store } from '../../../src/stores/store.ts'
import type { StoreTarget } from '../store-target.ts'

export interface Site {
  readonly store: Store
  /** Everything that reached the store, as one text. */
  readonly stored: () => string
  /** Changes the blobs of answers before a fabric gets them, as a program with access to the store could. */
  tamper: (call: Call, blobs: readonly Uint8Array[]) => readonly Uint8Array[]
  /** What calls of the store reject with from now on. */
  failure: Error | undefined
  readonly fabric: (codec?: ValueCodec | readonly ValueCodec[]) => Fabric
}

export async function siteOn(target: StoreTarget): Promise<Site> {
  const runtime = systemRuntime()
  const opened = await target.open(runtime, [])
  const seen: string[] = []
  const fabrics: Fabric[] = []
  const run = async (partition: Partition, calls: readonly Call[]): Promise<Answer[]> => {
    for (const { input, blobs } of calls) {
      seen.push(JSON.stringify(input), ...blobs.map((blob) => Buffer.from(blob).toString('latin1')))
    }
    if (site.failure !== undefined) throw site.failure
    const answers = await opened.store.run(partition, calls)
    return answers.map((answer, i) =>
      answer.kind === 'answered' ? { ...answer, blobs: site.tamper(calls[i]!, answer.blobs) } : answer,
    )
  }
  const store = new Proxy(opened.store, {
    get: (inner, name) => {
      if (name === 'run') return run
      if (name === 'close') return async () => undefined
      const found: unknown = Reflect.get(inner, name)
      return typeof found === 'function' ? (found.bind(inner) as unknown) : found
    },
  })
  const site: Site = {
    store,
    stored: () => seen.join('\n'),
    tamper: (_call, blobs) => blobs,
    failure: undefined,
    fabric: (codec) => {
      const parts = codec === undefined ? {} : { codec: new CodecChain([codec].flat()) }
      const fabric = new Fabric(store, runtime, { log: silentLog, ...parts })
      fabrics.push(fabric)
      return fabric
    },
  }
  onTestFinished(async () => {
    for (const fabric of fabrics) await fabric.close()
    await opened.remove()
    await opened.store.close()
  })
  return site
}
