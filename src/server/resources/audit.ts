/** What operators did over servers: who, what and why. */
import { z } from 'zod'
import { IDENTITY_BYTES } from '../../kernel/limits.ts'
import { roles } from '../auth/principal.ts'
import { json, route } from '../routes/route.ts'
import { instant } from '../schemas/common.ts'

const PAGE_DEFAULT = 50
const PAGE_MAX = 200

const auditEntry = z
  .object({
    at: instant,
    requestId: z.string().describe('The header `X-Request-Id`, with which the log of the server names it too.'),
    credential: z.string().describe('The name of the credentials.'),
    role: z.enum(roles),
    by: z.string().optional().describe('In whose name it was done, if the request names one.'),
    namespace: z.string().optional().describe('Absent for the store as a whole, or all namespaces.'),
    address: z.string().optional(),
    action: z.string().describe('The name of the route, such as `cancelExecution`.'),
    target: z.record(z.string(), z.string()).describe('The parameters of the path.'),
    reason: z.string().optional(),
    status: z.int(),
    code: z.string().optional().describe('The code of the refusal.'),
  })
  .meta({ id: 'AuditEntry' })

const auditPage = z
  .object({
    items: z.array(auditEntry).describe('The latest first.'),
    cursor: z.string().optional().describe('Where the next page starts. A short page may have one too.'),
    isKept: z
      .boolean()
      .describe(
        'Whether the store or an audit file keeps the entries. If not, they are the latest 1,000 since the process started.',
      ),
  })
  .meta({ id: 'AuditPage' })

export const auditRoutes = [
  route({
    name: 'listAudit',
    method: 'GET',
    path: '/v1/audit',
    tag: 'system',
    summary: 'List what operators did over servers, with who and why, the latest first',
    description:
      'Requests that were refused are listed too. The store keeps the entries of all its servers for 90 days, up to 100,000. On a store of level 1, or behind another server, each server lists its own requests: from its audit file, or from memory.',
    access: 'operator',
    scope: 'namespace',
    query: z.strictObject({
      limit: z.int().min(1).max(PAGE_MAX).optional().describe('Items of a page at most; 50 unless given.'),
      cursor: z.string().max(256).optional().describe('The cursor of the page before.'),
      action: z.string().min(1).max(64).optional().describe('Only this action, such as `cancelExecution`.'),
      by: z.string().min(1).max(IDENTITY_BYTES).optional().describe('Only of these credentials, or in this name.'),
      target: z.string().min(1).max(256).optional().describe('Only with a parameter of the path that is this text.'),
    }),
    errors: ['invalid_cursor'],
    answers: { 200: json(auditPage, 'A page of entries.') },
    handle: async ({ client, server: { trail }, query: { limit = PAGE_DEFAULT, ...query } }) => {
      const page = await trail.list(client, { limit, ...query })
      return { status: 200, body: { ...page, isKept: trail.isKept } }
    },
  }),
]
