/** Open waitpoints, and answers by signed links. */
import { z } from 'zod'
import { EngineError } from '../../kernel/engine-error.ts'
import { SIGNAL_PAYLOAD_BYTES } from '../../kernel/limits.ts'
import { answerPage, donePage, refusalPage } from '../pages/answer-page.ts'
import { pageResponse } from '../pages/page.ts'
import { json, route } from '../routes/route.ts'
import { page, pageQuery } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { valueOf } from '../schemas/value.ts'
import { receipt, signalKey, signalName, signalValue, token, waitpoint } from '../schemas/waitpoint.ts'

const SIGNAL_BYTES = Math.ceil((SIGNAL_PAYLOAD_BYTES * 4) / 3) + 16_384

const ANSWER_ERRORS = [
  'missing_token',
  'invalid_token',
  'token_expired',
  'waitpoint_closed',
  'signal_limit_exceeded',
  'signal_buffer_full',
  'payload_too_large',
  'signing_keys_missing',
  'signing_keys_stale',
] as const

const PAGE_STATUSES = {
  200: { html: true, description: 'What is asked, with a form.' },
  401: { html: true, description: 'The link is not valid, or not any more.' },
} as const

export const waitpointRoutes = [
  route({
    name: 'listWaitpoints',
    method: 'GET',
    path: '/v1/waitpoints',
    tag: 'waitpoints',
    summary: 'List open waitpoints, the longest open first',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject(pageQuery),
    errors: ['invalid_cursor'],
    answers: { 200: json(page(waitpoint), 'A page of waitpoints, without tokens.') },
    handle: async ({ client, query }) => ({ status: 200, body: await client.waitpoints(drop(query)) }),
  }),
  route({
    name: 'answerWaitpoint',
    method: 'POST',
    path: '/v1/waitpoints/answer',
    tag: 'waitpoints',
    summary: 'Send a signal to the waitpoint of a token',
    description:
      'The token is the only credential, and names the sender. `Idempotency-Key` is the key unless the body has one.',
    access: 'token',
    scope: 'namespace',
    body: z.strictObject({ token, name: signalName, ...signalValue, key: signalKey.optional() }),
    bodyBytes: SIGNAL_BYTES,
    takesIdempotencyKey: true,
    errors: ANSWER_ERRORS,
    answers: { 200: json(receipt, 'It was accepted.') },
    handle: async ({ client, idempotencyKey, body }) => {
      const { token: given, name, value, valueBytes, key = idempotencyKey } = body
      const sent = await client.answer(given, name, valueOf('value', value, valueBytes), drop({ key }))
      return { status: 200, body: sent }
    },
  }),
  route({
    name: 'showAnswerPage',
    method: 'GET',
    path: '/v1/answer',
    tag: 'waitpoints',
    summary: 'Show what the link of a token asks',
    description: 'Answers nothing: programs that open links in mails change nothing.',
    access: 'token',
    scope: 'namespace',
    query: z.strictObject({ token: token.optional() }),
    answers: PAGE_STATUSES,
    handle: async ({ client, query, server }) => {
      try {
        const asked = await client.askedBy(query.token ?? '')
        const key = server.runtime.uuid()
        return pageResponse(200, answerPage(asked, query.token ?? '', key))
      } catch (error) {
        return refusedPage(error)
      }
    },
  }),
  route({
    name: 'sendAnswerPage',
    method: 'POST',
    path: '/v1/answer',
    tag: 'waitpoints',
    summary: 'Send the form of an answer page',
    access: 'token',
    scope: 'namespace',
    body: z.strictObject({
      token,
      name: signalName,
      note: z.string().max(SIGNAL_PAYLOAD_BYTES).optional(),
      key: signalKey,
    }),
    bodyKind: 'form',
    bodyBytes: SIGNAL_BYTES,
    answers: PAGE_STATUSES,
    handle: async ({ client, body: { token: given, name, note = '', key } }) => {
      try {
        const value = note.trim() === '' ? undefined : { note: note.trim() }
        return pageResponse(200, donePage(name, await client.answer(given, name, value, { key })))
      } catch (error) {
        return refusedPage(error)
      }
    },
  }),
]

/** The holder of a link is a person: refusals are pages too. */
function refusedPage(error: unknown): Response {
  if (!(error instanceof EngineError)) throw error
  switch (error.code) {
    case 'missing_token':
    case 'invalid_token':
    case 'token_expired':
      return pageResponse(401, refusalPage(error.message, error.advice))
    case 'waitpoint_closed':
    case 'signal_limit_exceeded':
    case 'signal_buffer_full':
    case 'payload_too_large':
      return pageResponse(200, refusalPage(error.message, error.advice))
    default:
      throw error
  }
}
