/** Which engine examines which partitions, as it is stored. New fields go to the end. */
import { frozenList, frozenObject, record, text, whole } from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'

const engineShare = frozenObject({
  /** Identifies one start of an engine. */
  id: text,
  /** The engine loses its share unless it renews it before. */
  expiresAt: whole,
  partitions: frozenList(text),
})

/** An engine and the partitions that only this engine examines. */
export type EngineShare = Infer<typeof engineShare>

export const duties = record('duties', {
  /** Always `DUTIES_ID`: a store has one such record. */
  id: text,
  /** At most one engine for each partition, in the order in which they joined. */
  engines: frozenList(engineShare),
})

export interface Duties extends InferRecord<typeof duties> {}

/** The id of the only record. */
export const DUTIES_ID = 'duties'
