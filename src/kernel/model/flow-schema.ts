/** The stored order of what flows are made of: memberships, edges, flows. */
import type { Field, FieldKind } from './codec.ts'
import { blobInfo, delayCause, flag, list, object, tagList, text, whole, word } from './field-kinds.ts'
import type { Blank } from './field-kinds.ts'
import type { Edge, Flow } from './records.ts'

const group = object([
  { name: 'policy', of: word(['all_of', 'any_of', 'quorum']) },
  { name: 'need', of: whole },
  { name: 'losers', of: word(['cancel', 'let_run']) },
  { name: 'total', of: whole },
  { name: 'completed', of: whole },
  { name: 'failed', of: whole },
  { name: 'skipped', of: whole },
  { name: 'verdict', of: word(['pending', 'satisfied', 'impossible']) },
  { name: 'decidedAt', of: whole },
  { name: 'owedFrom', of: text, rare: true },
])

export const memberFields: readonly Field[] = [
  { name: 'flowId', of: text },
  { name: 'name', of: text },
  { name: 'rank', of: whole },
  { name: 'group', of: group },
  {
    name: 'delay',
    of: object([
      { name: 'until', of: whole },
      { name: 'cause', of: delayCause },
    ]),
    rare: true,
  },
  { name: 'inputCount', of: whole },
  {
    name: 'given',
    of: list(
      object([
        { name: 'name', of: text },
        { name: 'upstreamId', of: text },
        { name: 'result', of: object(blobInfo) },
      ]),
    ),
  },
  { name: 'payloadEdgeCount', of: whole },
  { name: 'payloadFrom', of: text, rare: true },
  { name: 'owesEdges', of: flag },
]

export const edgeFields: readonly Field[] = [
  { name: 'id', of: text },
  { name: 'flowId', of: text },
  { name: 'upstreamId', of: text },
  { name: 'downstreamId', of: text },
  {
    name: 'hands',
    of: {
      kind: 'union',
      tag: 'as',
      variants: [
        { word: 'input', fields: [{ name: 'name', of: text }] },
        { word: 'payload', fields: [] },
      ],
    },
  },
  { name: 'state', of: word(['open', 'satisfied', 'impossible']) },
  { name: 'result', of: object(blobInfo) },
  { name: 'createdAt', of: whole },
  { name: 'resolvedAt', of: whole },
]

const flowState: FieldKind = {
  kind: 'union',
  tag: 'phase',
  variants: [
    { word: 'held', fields: [{ name: 'until', of: whole }] },
    { word: 'open', fields: [] },
    { word: 'sealed', fields: [] },
    {
      word: 'ended',
      fields: [
        { name: 'outcome', of: word(['completed', 'failed']) },
        { name: 'at', of: whole },
      ],
    },
    {
      word: 'cancelled',
      fields: [
        { name: 'policy', of: word(['cancel_all', 'cancel_pending', 'flow_only']) },
        { name: 'at', of: whole },
        { name: 'reason', of: text },
        { name: 'by', of: text },
        { name: 'force', of: flag },
        { name: 'graceMs', of: whole },
      ],
    },
  ],
}

const memberCounts = object([
  { name: 'waiting', of: whole },
  { name: 'delayed', of: whole },
  { name: 'rate_limited', of: whole },
  { name: 'waiting_children', of: whole },
  { name: 'active', of: whole },
  { name: 'suspended', of: whole },
  { name: 'completed', of: whole },
  { name: 'failed', of: whole },
  { name: 'cancelled', of: whole },
  { name: 'expired', of: whole },
  { name: 'skipped', of: whole },
  { name: 'superseded', of: whole },
])

export const flowFields: readonly Field[] = [
  { name: 'id', of: text },
  { name: 'key', of: text, rare: true },
  { name: 'requestId', of: text, rare: true },
  { name: 'namespace', of: text },
  { name: 'name', of: text },
  { name: 'tags', of: tagList },
  { name: 'outcomeRule', of: word(['all_members', 'sinks']) },
  { name: 'retentionMs', of: whole },
  { name: 'createdAt', of: whole },
  { name: 'changedAt', of: whole },
  { name: 'state', of: flowState },
  {
    name: 'submission',
    of: object([
      { name: 'digest', of: text },
      { name: 'nodeCount', of: whole },
      { name: 'edgeCount', of: whole },
    ]),
  },
  { name: 'memberCount', of: whole },
  { name: 'edgeCount', of: whole },
  { name: 'counts', of: memberCounts },
  { name: 'failedSinkCount', of: whole },
  { name: 'shortGroupCount', of: whole },
  { name: 'cancelsLosers', of: flag },
  { name: 'hasReplays', of: flag },
  {
    name: 'walk',
    of: object([
      { name: 'purpose', of: word(['release', 'cancel', 'replay', 'remove']) },
      { name: 'fromRank', of: whole },
      { name: 'fromId', of: text },
      { name: 'rootId', of: text },
    ]),
    rare: true,
  },
  { name: 'version', of: whole },
]

export const blankEdge: Blank<Edge> = {
  type: 'edge',
  id: undefined,
  flowId: undefined,
  upstreamId: undefined,
  downstreamId: undefined,
  hands: undefined,
  state: undefined,
  result: undefined,
  createdAt: undefined,
  resolvedAt: undefined,
}

export const blankFlow: Blank<Flow> = {
  type: 'flow',
  id: undefined,
  key: undefined,
  requestId: undefined,
  namespace: undefined,
  name: undefined,
  tags: undefined,
  outcomeRule: undefined,
  retentionMs: undefined,
  createdAt: undefined,
  changedAt: undefined,
  state: undefined,
  submission: undefined,
  memberCount: undefined,
  edgeCount: undefined,
  counts: undefined,
  failedSinkCount: undefined,
  shortGroupCount: undefined,
  cancelsLosers: undefined,
  hasReplays: undefined,
  walk: undefined,
  version: undefined,
}
