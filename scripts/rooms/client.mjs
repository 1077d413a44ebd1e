/** The rooms of src/client, each with the rooms that it may import. */
export const client = {
  rooms: {
    checks: [],
    define: ['checks'],
    transport: ['checks', 'define'],
    tokens: ['checks', 'define'],
    events: ['checks', 'define', 'transport'],
    consumers: ['checks', 'define', 'transport', 'events', 'session'],
    journal: ['checks', 'define', 'transport', 'tokens', 'session'],
    // Reads what workers write, so the packing of frames is here for both.
    streams: ['checks', 'define', 'transport', 'events', 'session'],
    workers: ['checks', 'transport', 'session'],
    audit: ['checks', 'transport', 'session'],
    // Executions for workers that do not connect to the store.
    leases: [
      'checks',
      'define',
      'transport',
      'budgets',
      'executions',
      'flows',
      'journal',
      'limits',
      'streams',
      'session',
    ],
    // Declared limits and budgets are made known together; operators of both wake what they block.
    limits: ['checks', 'define', 'transport', 'session', 'budgets'],
    budgets: ['checks', 'define', 'transport', 'session', 'limits'],
    executions: ['checks', 'define', 'transport', 'events', 'journal', 'limits', 'streams', 'workers', 'session'],
    flows: ['checks', 'define', 'transport', 'events', 'executions', 'limits', 'session'],
    lists: ['checks', 'define', 'transport', 'executions', 'flows', 'journal', 'session'],
    lanes: ['checks', 'define', 'transport', 'limits', 'session'],
    webhooks: ['checks', 'define', 'transport', 'tokens', 'events', 'consumers', 'executions', 'lists', 'session'],
    schedules: ['checks', 'define', 'transport', 'executions', 'flows', 'limits', 'lists', 'session'],
  },
  /** The session joins the transport and the token signer; every capability is a set of functions over it. */
  shared: { session: ['session.ts'] },
}
