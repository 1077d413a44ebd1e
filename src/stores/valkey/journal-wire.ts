/** How calls and answers travel that a handler's steps and waits are made of, and the signals for which it waits. */
import type { Field, FieldKind } from '../../kernel/codec.ts'
import { failureTexts, flag, list, object, text, textList, whole, word } from '../../kernel/field-kinds.ts'
import {
  conditionNode,
  signalEffect,
  signalFields,
  signalSource,
  stepFields,
  timeoutBehaviour,
} from '../../kernel/journal-schema.ts'
import { blob, fence } from './wire-kinds.ts'

const failure = object(failureTexts)

const stepOutcome: FieldKind = {
  kind: 'union',
  tag: 'kind',
  variants: [
    { word: 'completed', fields: [{ name: 'value', of: blob }] },
    {
      word: 'failed',
      fields: [
        { name: 'failure', of: failure },
        { name: 'size', of: whole },
      ],
    },
    {
      word: 'retry',
      fields: [
        { name: 'failure', of: failure },
        { name: 'size', of: whole },
        { name: 'delayMs', of: whole },
        { name: 'park', of: flag },
      ],
    },
  ],
}

export const recordStepInput: readonly Field[] = [
  { name: 'executionId', of: text },
  { name: 'fence', of: fence },
  { name: 'stepKind', of: word(['call', 'now']) },
  { name: 'name', of: text },
  { name: 'attemptCount', of: whole },
  { name: 'outcome', of: stepOutcome },
]

export const recordStepResult: readonly Field[] = [
  { name: 'kind', of: word(['recorded']) },
  { name: 'at', of: whole },
  { name: 'until', of: whole },
]

export const suspendInput: readonly Field[] = [
  { name: 'executionId', of: text },
  { name: 'fence', of: fence },
  { name: 'stepKind', of: word(['wait', 'sleep']) },
  { name: 'name', of: text },
  { name: 'nodes', of: list(object(conditionNode)) },
  { name: 'opens', of: textList },
  { name: 'reason', of: text },
  { name: 'timeoutMs', of: whole },
  { name: 'untilExpiry', of: flag },
  { name: 'onTimeout', of: timeoutBehaviour },
  { name: 'resumeDelayMs', of: whole, rare: true },
  { name: 'remindEveryMs', of: whole, rare: true },
  { name: 'strict', of: flag },
  { name: 'keyId', of: text, rare: true },
]

export const suspendResult: readonly Field[] = [
  { name: 'kind', of: word(['suspended', 'already_suspended']) },
  { name: 'until', of: whole },
  {
    name: 'waitpoints',
    of: list(
      object([
        { name: 'target', of: text },
        { name: 'waitpointId', of: text },
        { name: 'generation', of: whole },
        { name: 'keyId', of: text, rare: true },
        { name: 'createdAt', of: whole },
        { name: 'isOpen', of: flag },
        { name: 'expiresAt', of: whole },
      ]),
    ),
  },
]

export const deliverInput: readonly Field[] = [
  { name: 'executionId', of: text },
  { name: 'target', of: text },
  { name: 'key', of: text },
  { name: 'name', of: text },
  { name: 'source', of: signalSource },
  { name: 'payload', of: blob },
  {
    name: 'token',
    of: object([
      { name: 'waitpointId', of: text },
      { name: 'generation', of: whole },
      { name: 'openedAt', of: whole },
    ]),
  },
]

export const deliverResult: readonly Field[] = [
  { name: 'kind', of: word(['delivered', 'duplicate']) },
  { name: 'sequence', of: whole },
  { name: 'effect', of: signalEffect },
  { name: 'at', of: whole },
]

export const readStepsInput: readonly Field[] = [
  { name: 'executionId', of: text },
  { name: 'from', of: whole },
  { name: 'limit', of: whole },
  { name: 'values', of: flag },
]

export const readStepsResult: readonly Field[] = [
  { name: 'kind', of: word(['steps']) },
  {
    name: 'steps',
    of: list(
      object([
        { name: 'step', of: object([{ name: 'type', of: word(['step']) }, ...stepFields]) },
        { name: 'valueBlob', of: whole },
        { name: 'isFinal', of: flag },
      ]),
    ),
  },
  { name: 'next', of: whole },
  { name: 'at', of: whole },
]

export const readSignalsInput: readonly Field[] = [
  { name: 'executionId', of: text },
  { name: 'from', of: whole },
  { name: 'to', of: whole },
  { name: 'limit', of: whole },
  { name: 'payloads', of: flag },
]

export const readSignalsResult: readonly Field[] = [
  { name: 'kind', of: word(['signals']) },
  {
    name: 'signals',
    of: list(
      object([
        { name: 'signal', of: object([{ name: 'type', of: word(['signal']) }, ...signalFields]) },
        { name: 'payloadBlob', of: whole },
      ]),
    ),
  },
  { name: 'next', of: whole },
  { name: 'at', of: whole },
]
