// Mistakes that are planted in a mixed history, at least one for each rule.
import { randomUUID } from 'node:crypto'
import { duplicateNotification, lostNotification, lostRecipient } from '../comms-mutants.ts'
import { doubleScheduling, lostDelivery, lostRun, unstoredRun } from '../mutants.ts'
import { keysOf } from '../recorder.ts'
import type { Mutant } from '../row.ts'
import type { MixedHistory } from './history.ts'
import { failedOperation } from '../plant.ts'

type M = Mutant<MixedHistory>

/**
 * The mistakes of comms scenarios, planted in a mixed history. The mixed checkers count all of them except duplicates
 * as losses.
 */
const ofComms = [lostNotification(), lostRecipient(), duplicateNotification()].map(
  ({ name, breaks, plant }): M => ({
    name,
    breaks: breaks === 'dup' ? 'dup' : 'lost',
    plant: (history) => ({ ...history, comms: plant(history.comms) }),
  }),
)

const own: readonly M[] = [
  {
    name: 'a tenant is acknowledged before its commit and lost',
    breaks: 'lost',
    plant: (history) => {
      const [slug] = keysOf(history.operations, 'create', 'ok')
      return { ...history, tenants: history.tenants.filter((tenant) => tenant.slug !== slug) }
    },
  },
  {
    name: 'a rejected tenant exists',
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
    name: 'an older name overwrites an acknowledged name',
    breaks: 'lost',
    plant: (history) => {
      const done = history.renames.find(({ outcome }) => outcome === 'ok')
      return { ...history, names: { ...history.names, [done?.register ?? '']: 'v-old' } }
    },
  },
  {
    name: 'an invalidated credential is accepted',
    breaks: 'accepted_after_invalidation',
    plant: (history) => {
      const [credential, { confirmedAt }] = history.invalidations[0] as MixedHistory['invalidations'][number]
      const use = { credential, startedAt: confirmedAt + 1, answeredAt: confirmedAt + 2, accepted: true }
      return { ...history, uses: [...history.uses, use] }
    },
  },
  {
    name: 'an unauthorized call succeeds while the database is unreachable',
    breaks: 'unauthorized',
    plant: (history) => ({
      ...history,
      strangers: [
        ...history.strangers,
        { what: 'a token that was never issued', status: 200, hasSucceeded: true },
      ],
    }),
  },
  {
    name: 'a response is sent before its row is committed',
    breaks: 'answered_without_row',
    plant: (history) => {
      const [{ requestId }] = history.answered as [MixedHistory['answered'][number]]
      return { ...history, logged: history.logged.filter((row) => row.requestId !== requestId) }
    },
  },
  {
    name: 'a bundle is served with the wrong bytes',
    breaks: 'lost',
    plant: (history) => {
      const [{ version }] = history.uploaded as [MixedHistory['uploaded'][number]]
      return { ...history, served: { ...history.served, [version]: 'other' } }
    },
  },
  {
    name: 'a login returns its token twice',
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
  { name: 'a replica exits', breaks: 'exits', plant: (history) => ({ ...history, ended: ['replica-1'] }) },
  failedOperation('a caller receives a 500', 'wrong_status', 500),
  {
    name: 'a 503 has no Retry-After',
    breaks: 'no_retry_after',
    plant: (history) => ({ ...history, withoutRetryAfter: ['/query 503'] }),
  },
  {
    name: 'a socket does not reconnect',
    breaks: 'sockets_missing',
    plant: (history) => ({ ...history, sockets: { opened: 2, back: 1 } }),
  },
]

/** The planted mistakes that the checkers of every mixed-load scenario must detect. */
export const mixedMutants = <H extends MixedHistory>(): Mutant<H>[] =>
  [lostDelivery<H>(), lostRun<H>(), doubleScheduling<H>(), unstoredRun<H>()].concat(
    [...ofComms, ...own].map(({ name, breaks, plant }) => ({
      name,
      breaks,
      plant: (history) => ({ ...history, ...plant(history) }),
    })),
  )
