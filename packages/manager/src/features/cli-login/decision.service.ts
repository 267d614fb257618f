// The side of the browser: a signed-in person looks at a login and decides. Approving makes a token of theirs, sealed to the
// terminal's key; nobody else can open it, this service included.
import type { KeyObject } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { recheckCredential } from '../../policy/recheck.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { AuthFailures } from '../../platform/credentials/auth-failures.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { AppError, forbidden } from '../../platform/errors.ts'
import { formToken, isFormToken } from '../../platform/secrets/form-token.ts'
import { sealTo } from '../../platform/secrets/sealed-box.ts'
import type { Throttle } from '../../platform/throttle/throttle.ts'
import type { AccessTokensApi } from '../access-tokens/index.ts'
import type { CliLoginMetrics } from './cli-login.metrics.ts'
import * as store from './cli-login.store.ts'
import { loginEvent } from './login-event.pure.ts'
import { readUserCode } from './user-code.pure.ts'

export type DecisionDeps = {
  db: Db
  audit: Audit
  metrics: CliLoginMetrics
  accessTokens: Pick<AccessTokensApi, 'issue'>
  authFailures: Pick<AuthFailures, 'fail'>
  /** Wrong codes of a person. */
  guesses: Throttle
  formKey: KeyObject
  tokenDays: number
}
export type DecisionService = ReturnType<typeof createDecisionService>

/** Who looks, and from where. */
type Viewer = { actor: Actor; network: string }
/** What somebody sees before they decide. */
export type Consent = store.ShownLogin & { formToken: string; tokenDays: number }

// The same for a blocked person: it must not tell whether the code is right.
const unknownCode =
  'no login has this code; compare it with the one in your terminal, and wait a while after several wrong codes'
const over = (): AppError =>
  new AppError('gone', 'this code has expired or was used already; start the login again in your terminal')

const checkWaiting = ({ isOver, status }: store.ShownLogin): void => {
  if (isOver || status !== 'pending') throw over()
}

/** What people may do with a login. */
export function createDecisionService(deps: DecisionDeps) {
  const { db, audit, metrics, accessTokens, authFailures, guesses, formKey, tokenDays } = deps

  /** The login of a code; throws 404. After too many wrong codes every code is 404, so a right one is not recognized. */
  const find = async (typed: string, { actor, network }: Viewer): Promise<store.ShownLogin> => {
    const isBlocked = (await guesses.blockedMs(actor.user.id)) > 0
    const code = readUserCode(typed)
    const login = code === null || isBlocked ? undefined : await store.findByCode(db.read, code)
    if (login !== undefined) return login
    authFailures.fail('cli_code', network)
    // Text that cannot be a code is not a guess.
    if (code !== null && !isBlocked) await guesses.fail(actor.user.id)
    throw new AppError('not_found', unknownCode)
  }

  const approve = async (actor: Actor, login: store.ShownLogin): Promise<void> => {
    const { id, publicKey, tokenName: name } = login
    const { token, insert } = await accessTokens.issue.prepare(actor)
    const sealedToken = await sealTo(publicKey, Buffer.from(token))
    await db.transaction(async (tx) => {
      const expiresAt = await store.daysFromNow(tx, tokenDays)
      await insert(tx, { name, expiresAt }, async ({ id: accessTokenId }) => {
        const decision = { status: 'approved' as const, userId: actor.user.id, accessTokenId, sealedToken }
        const decided = await store.decide(tx, id, decision)
        // Another decision, or the end of the login, came first: the token goes with the transaction.
        if (decided === null) throw over()
        return [loginEvent('approve', decided)]
      })
    })
    metrics.logins.inc({ event: 'approved' })
  }

  const deny = async (actor: Actor, login: store.ShownLogin): Promise<void> => {
    await db.transaction(async (tx) => {
      await recheckCredential(tx, actor)
      const decided = await store.decide(tx, login.id, { status: 'denied', userId: actor.user.id })
      if (decided === null) throw over()
      await audit.append(tx, actor, loginEvent('deny', decided))
    })
    metrics.logins.inc({ event: 'denied' })
  }

  return {
    /** What the page shows; throws 404 or 410. Changes nothing. */
    show: async (typed: string, viewer: Viewer): Promise<Consent> => {
      const login = await find(typed, viewer)
      checkWaiting(login)
      const shown = { userId: viewer.actor.user.id, thingId: login.id }
      return { ...login, formToken: formToken(formKey, shown), tokenDays }
    },

    /** Decides; of several decisions about a login one is right, and the others throw 410. */
    decide: async (
      given: { code: string; formToken: string; decision: 'approve' | 'deny' },
      viewer: Viewer,
    ): Promise<store.ShownLogin> => {
      const { actor } = viewer
      const login = await find(given.code, viewer)
      if (!isFormToken(formKey, { userId: actor.user.id, thingId: login.id }, given.formToken))
        throw forbidden('the form was not made for you and this login')
      // Before anything slow: a login that is settled costs a lookup.
      checkWaiting(login)
      await (given.decision === 'approve' ? approve(actor, login) : deny(actor, login))
      return login
    },
  }
}
