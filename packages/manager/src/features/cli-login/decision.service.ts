// In the browser, a signed-in person reviews a login and decides. An approval creates a token for this
// person, encrypted with the terminal's key. Only the terminal can decrypt the token; this service cannot.
import type { KeyObject } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { recheckCredential } from '../../policy/recheck.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { AuthFailures } from '../../platform/credentials/auth-failures.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { AppError, forbidden } from '../../platform/errors.ts'
import { createFormToken, isFormToken } from '../../platform/secrets/form-token.ts'
import { sealTo } from '../../platform/secrets/sealed-box.ts'
import type { Throttle } from '../../platform/throttle/throttle.ts'
import type { AccessTokensApi } from '../access-tokens/index.ts'
import type { CliLoginMetrics } from './cli-login.metrics.ts'
import * as store from './cli-login.store.ts'
import { loginEvent } from './login-event.pure.ts'
import { parseUserCode } from './user-code.pure.ts'

export type DecisionDeps = {
  db: Db
  audit: Audit
  metrics: CliLoginMetrics
  accessTokens: Pick<AccessTokensApi, 'issue'>
  authFailures: Pick<AuthFailures, 'fail'>
  /** Counts the wrong codes of each person. */
  guesses: Throttle
  formKey: KeyObject
  tokenDays: number
}
export type DecisionService = ReturnType<typeof createDecisionService>

/** The person who opens the page, and their network. */
type Viewer = { actor: Actor; network: string }
/** The data that the person sees before they decide. */
export type Consent = store.DisplayedLogin & { formToken: string; tokenDays: number }

// A blocked person receives the same message, because the message must not reveal whether the code is
// correct.
const unknownCode =
  'no login has this code; compare it with the code in your terminal; after several wrong codes, wait before you try again'
const createCodeExpiredError = (): AppError =>
  new AppError('gone', 'this code has expired or was already used; start the login again in your terminal')

const assertPending = ({ isExpired, status }: store.DisplayedLogin): void => {
  if (isExpired || status !== 'pending') throw createCodeExpiredError()
}

export function createDecisionService(deps: DecisionDeps) {
  const { db, audit, metrics, accessTokens, authFailures, guesses, formKey, tokenDays } = deps

  /**
   * Returns the login with this code, or throws 404. After too many wrong codes, every code returns 404, even a correct
   * one.
   */
  const find = async (typedCode: string, { actor, network }: Viewer): Promise<store.DisplayedLogin> => {
    const isBlocked = (await guesses.getBlockedMs(actor.user.id)) > 0
    const code = parseUserCode(typedCode)
    const login = code === null || isBlocked ? undefined : await store.findByCode(db.read, code)
    if (login !== undefined) return login
    authFailures.fail('cli_code', network)
    // Input that cannot be a code does not count as a guess.
    if (code !== null && !isBlocked) await guesses.fail(actor.user.id)
    throw new AppError('not_found', unknownCode)
  }

  const approve = async (actor: Actor, login: store.DisplayedLogin): Promise<void> => {
    const { id, publicKey, tokenName: name } = login
    const { token, insert } = await accessTokens.issue.prepare(actor)
    const sealedToken = await sealTo(publicKey, Buffer.from(token))
    await db.transaction(async (tx) => {
      const expiresAt = await store.computeExpiry(tx, tokenDays)
      await insert(tx, { name, expiresAt }, async ({ id: accessTokenId }) => {
        const decision = { status: 'approved' as const, userId: actor.user.id, accessTokenId, sealedToken }
        const decidedLogin = await store.decideLogin(tx, id, decision)
        // A concurrent decision committed first, or the login has expired. The rollback of the transaction
        // also removes the token.
        if (decidedLogin === null) throw createCodeExpiredError()
        return [loginEvent('approve', decidedLogin)]
      })
    })
    metrics.logins.inc({ event: 'approved' })
  }

  const deny = async (actor: Actor, login: store.DisplayedLogin): Promise<void> => {
    await db.transaction(async (tx) => {
      await recheckCredential(tx, actor)
      const decidedLogin = await store.decideLogin(tx, login.id, { status: 'denied', userId: actor.user.id })
      if (decidedLogin === null) throw createCodeExpiredError()
      await audit.append(tx, actor, loginEvent('deny', decidedLogin))
    })
    metrics.logins.inc({ event: 'denied' })
  }

  return {
    /** Returns the data for the page without side effects. Throws 404 or 410. */
    show: async (typedCode: string, viewer: Viewer): Promise<Consent> => {
      const login = await find(typedCode, viewer)
      assertPending(login)
      const formSubject = { userId: viewer.actor.user.id, objectId: login.id }
      return { ...login, formToken: createFormToken(formKey, formSubject), tokenDays }
    },

    /** Approves or denies a login. If several decisions race, only one succeeds and the others throw 410. */
    decide: async (
      input: { code: string; formToken: string; decision: 'approve' | 'deny' },
      viewer: Viewer,
    ): Promise<store.DisplayedLogin> => {
      const { actor } = viewer
      const login = await find(input.code, viewer)
      if (!isFormToken(formKey, { userId: actor.user.id, objectId: login.id }, input.formToken))
        throw forbidden('the form belongs to another user or login; open the page again')
      // This check runs before any slow work, so that a settled login costs only one lookup.
      assertPending(login)
      await (input.decision === 'approve' ? approve(actor, login) : deny(actor, login))
      return login
    },
  }
}
