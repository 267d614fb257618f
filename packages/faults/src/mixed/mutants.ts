// Mistakes that are planted in a mixed history, one for each rule at least.
import { randomUUID } from 'node:crypto'
import { duplicateNotification, lostNotification, lostRecipient } from '../comms-mutants.ts'
import { doubleScheduling, lostDelivery, lostRun, unstoredRun } from '../mutants.ts'
import { keysOf } from '../recorder.ts'
import type { Mutant } from '../row.ts'
import type { MixedHistory } from './history.ts'
import { failedOperation } from '../plant.ts'

type M = Mutant<MixedHistory>

/** The mistakes of notifications, in the place where a mixed history has them; all of them are losses here but doubles. */
const ofComms = [lostNotification(), lostRecipient(), duplicateNotification()].map(
  ({ name, breaks, plant }): M => ({
    name,
    breaks: breaks === 'dup' ? 'dup' : 'lost',
    plant: (history) => ({ ...history, comms: plant(history.comms) }),
  }),
)

const own: readonly M[] = [
  {
    name: 'a tenant is answered before its commit, and lost',
    breaks: 'lost',
    plant: (history) => {
      const [slug] = keysOf(history.operations, 'create', 'ok')
      return { ...history, tenants: history.tenants.filter((tenant) => tenant.slug !== slug) }
    },
  },
  {
    name: 'a tenant is there that was refused',
    breaks: 'dup',
    plant: (history) => ({
      ...history,
      tenants: [...history.tenants, { slug: `t-${randomUUID()}`, audited: 1 }],
    }),
  },
  {
    name: 'a change has no audit row',
    breaks: 'dup',
    plant: (history) => ({
      ...history,
      tenants: history.tenants.map((tenant, index) => (index === 0 ? { ...tenant, audited: 0 } : tenant)),
    }),
  },
  {
    name: 'an acknowledged name is overwritten by an older one',
    breaks: 'lost',
    plant: (history) => {
      const done = history.renames.find(({ outcome }) => outcome === 'ok')
      return { ...history, names: { ...history.names, [done?.register ?? '']: 'v-old' } }
    },
  },
  {
    name: 'an ended credential is accepted',
    breaks: 'accepted_after',
    plant: (history) => {
      const [credential, { answeredAt }] = history.endings[0] as MixedHistory['endings'][number]
      const use = { credential, startedAt: answeredAt + 1, answeredAt: answeredAt + 2, accepted: true }
      return { ...history, uses: [...history.uses, use] }
    },
  },
  {
    name: 'a stranger is let in while the database is away',
    breaks: 'let_in',
    plant: (history) => ({
      ...history,
      strangers: [...history.strangers, { what: 'a token that nobody issued', status: 200, isLetIn: true }],
    }),
  },
  {
    name: 'a call is answered before its row is committed',
    breaks: 'answered_without_row',
    plant: (history) => {
      const [{ requestId }] = history.answered as [MixedHistory['answered'][number]]
      return { ...history, logged: history.logged.filter((row) => row.requestId !== requestId) }
    },
  },
  {
    name: 'a bundle is served with other bytes',
    breaks: 'lost',
    plant: (history) => {
      const [{ version }] = history.uploaded as [MixedHistory['uploaded'][number]]
      return { ...history, served: { ...history.served, [version]: 'other' } }
    },
  },
  {
    name: 'a login hands out its token twice',
    breaks: 'dup',
    plant: (history) => {
      const index = history.logins.findIndex(({ tokens }) => tokens.length === 1)
      return {
        ...history,
        logins: history.logins.map((login, at) =>
          at === index ? { ...login, tokens: [...login.tokens, ...login.tokens] } : login,
        ),
      }
    },
  },
  {
    name: 'an approved login never gets its token',
    breaks: 'lost',
    plant: (history) => ({
      ...history,
      logins: [...history.logins, { key: 'x', tokens: [], unknown: 0, last: 'expired', isValid: null }],
    }),
  },
  {
    name: 'the audit trail is broken',
    breaks: 'audit_broken',
    plant: (history) => ({ ...history, broken: ['BROKEN chain'] }),
  },
  { name: 'a replica ends', breaks: 'exits', plant: (history) => ({ ...history, ended: ['replica-1'] }) },
  failedOperation('a caller gets a 500', 'wrong_status', 500),
  {
    name: 'a 503 does not say when to come again',
    breaks: 'no_retry_after',
    plant: (history) => ({ ...history, withoutRetryAfter: ['/query 503'] }),
  },
  {
    name: 'a socket does not come back',
    breaks: 'sockets_away',
    plant: (history) => ({ ...history, sockets: { opened: 2, back: 1 } }),
  },
]

/** The mistakes that every row under the mixed load has to find. */
export const mixedMutants = <H extends MixedHistory>(): Mutant<H>[] =>
  [lostDelivery<H>(), lostRun<H>(), doubleScheduling<H>(), unstoredRun<H>()].concat(
    [...ofComms, ...own].map(({ name, breaks, plant }) => ({
      name,
      breaks,
      plant: (history) => ({ ...history, ...plant(history) }),
    })),
  )
