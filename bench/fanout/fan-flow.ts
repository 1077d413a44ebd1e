/** A flow that spreads and comes together again: one root, children that all come after it, one join after all of them. */
import { allOf, flow, task } from '../../src/client/index.ts'
import { LANE } from '../workload.ts'

const piece = task<{ readonly number: number }, number>('bench.piece', { lane: LANE })

export const pieceHandler = piece.handle(({ number }) => number)

export const fan = flow('bench.fanout', (f, { width }: { readonly width: number }) => {
  const root = f.node('root', piece, { input: { number: 0 } })
  const children = Array.from({ length: width }, (_, i) =>
    f.node(`child${i}`, piece, { after: allOf(root), input: { number: i } }),
  )
  f.node('join', piece, { after: allOf(...children), input: { number: width } })
})

/** The children with their root and their join. */
export function memberCount(width: number): number {
  return width + 2
}
