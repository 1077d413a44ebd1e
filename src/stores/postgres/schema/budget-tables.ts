/** The tables of budgets, their accounts and their ledger. Their columns are those of `sql/columns.ts`. */
import { namedTable } from './named-table.ts'

const budget = namedTable(
  'budget',
  `root text collate "C" not null,
    name text collate "C" not null,
    parent text,
    on_breach text not null check (on_breach in ('suspend', 'refuse_new', 'cancel', 'warn')),
    next_reset_at bigint,
    is_frozen integer not null check (is_frozen in (0, 1)),
    version integer not null,
    changed_at bigint not null`,
)

const account = namedTable(
  'account',
  `root text collate "C" not null,
    name text collate "C" not null,
    key text not null,
    period integer not null check (period >= 0),
    charge_count bigint not null check (charge_count >= 0),
    reservation_count integer not null check (reservation_count >= 0),
    breach_count bigint not null check (breach_count >= 0)`,
)

const reservation = namedTable(
  'reservation',
  `root text collate "C" not null,
    execution_id text collate "C",
    expires_at bigint not null`,
)

const charge = namedTable(
  'charge',
  `root text collate "C" not null,
    execution_id text collate "C",
    task text not null,
    at bigint not null`,
)

const pastPeriod = namedTable(
  'past_period',
  `root text collate "C" not null,
    name text collate "C" not null,
    key text not null,
    period integer not null check (period >= 0),
    since bigint not null`,
)

export const budgets = [budget, account, reservation, charge, pastPeriod].join('')
