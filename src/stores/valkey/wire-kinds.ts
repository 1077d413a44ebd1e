/** Kinds of fields that several calls travel with. */
import type { FieldKind } from '../../kernel/codec.ts'
import { blobInfo, object, text, whole } from '../../kernel/field-kinds.ts'

/** Bytes of the call, by their number among its blobs. */
export const blob: FieldKind = object([{ name: 'blob', of: whole }, ...blobInfo])

export const fence: FieldKind = object([
  { name: 'leaseId', of: text },
  { name: 'epoch', of: whole },
  { name: 'attempt', of: whole },
])
