// The checks of `svc doctor` that need a credential: token, expiry and permissions.
import { type Connection, GraphqlError, ResponseError, graphql } from '@manager/client'
import { getMyPermissionsDocument, getProjectDocument, meDocument } from '@manager/client/documents'
import type { Context } from '../context.ts'
import { Failure } from '../failures.ts'
import { type ParentOptions, getProject } from '../parents.ts'
import { tokens } from '../resources/tokens.ts'
import { listRows } from '../rows.ts'
import { getCredential, openConnection } from '../session.ts'
import { formatCount } from '../words.ts'
import { type Check, fail, ok, skip, warn } from './check.ts'

const timeoutMs = 10_000
const dayMs = 86_400_000
const expiryWarningDays = 7

/** Checks that the Manager accepts the token. Without an accepted token, the other checks are skipped. */
export async function checkAccess(context: Context, options: ParentOptions): Promise<Check[]> {
  const skipped = [skip('expiry', 'no accepted token'), skip('permissions', 'no accepted token')]
  let credential: { url: string; token: string }
  try {
    credential = await getCredential(context.terminal, context.target)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return [fail('token', 'there is no usable token', error.message), ...skipped]
  }
  const connection = { ...openConnection(credential.url, credential.token, timeoutMs), maxRetries: 0 }
  try {
    const { me } = await graphql(connection, meDocument, {}, { signal: context.signal })
    return [
      ok('token', `accepted; you are ${me.externalUsername}, ${me.role}`),
      await attempt('expiry', () => checkExpiry(context, connection, credential.token)),
      await attempt('permissions', () => checkPermissions(context, connection, options)),
    ]
  } catch (error) {
    context.signal.throwIfAborted()
    return [fail('token', (error as Error).message, getTokenHint(error)), ...skipped]
  }
}

/** Converts an unexpected error of a check to its result, so that the other results are printed too. */
async function attempt(check: Check['check'], run: () => Promise<Check>): Promise<Check> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof Failure) && !(error instanceof GraphqlError)) throw error
    return fail(check, error.message, 'Check the project with: svc projects list')
  }
}

function getTokenHint(error: unknown): string {
  if (!(error instanceof ResponseError)) return 'Check the connection, and try again.'
  if (error.message.includes('X-Proxy-Auth'))
    return 'This is the address of the Manager. Use the address of its proxy.'
  if (error.status === 401) return 'Sign in again: svc login --url <address>'
  if (error.status >= 300 && error.status < 400)
    return 'The proxy asks for a sign-in. Use the address that the operator gave you for svc.'
  if (error.status === 200 || error.status === 404)
    return 'The server at this address is not the Manager. Check the address.'
  return 'Try again later. If the problem remains, tell the operator.'
}

/** Finds the token in the user's token list by its prefix: tokens have the form pat_<prefix>_<secret>. */
async function checkExpiry({ signal }: Context, connection: Connection, token: string): Promise<Check> {
  const prefix = token.split('_')[1] ?? ''
  const { rows } = await listRows(connection, tokens, null, { signal })
  const expiresAt = rows.find(({ tokenPrefix }) => tokenPrefix === prefix)?.['expiresAt']
  if (typeof expiresAt !== 'string') return ok('expiry', 'the token has no expiry')
  const days = Math.floor((Date.parse(expiresAt) - Date.now()) / dayMs)
  if (days >= expiryWarningDays) return ok('expiry', `the token expires in ${formatCount(days, 'day')}`)
  return warn('expiry', `the token expires on ${expiresAt}`, 'To get a new token, run: svc login')
}

async function checkPermissions(
  context: Context,
  connection: Connection,
  options: ParentOptions,
): Promise<Check> {
  const { signal } = context
  const project = await findProject(context, connection, options)
  if (project === null) {
    const { me } = await graphql(connection, getMyPermissionsDocument, {}, { signal })
    return ok('permissions', `${formatCount(me.myPermissions.length, 'permission')} in the installation`)
  }
  const result = await graphql(connection, getProjectDocument, { slug: project }, { signal })
  const { slug, myRole, myPermissions } = result.project
  const role = myRole === null ? 'no role' : `role ${myRole}`
  return ok('permissions', `${role} in project ${slug}, ${formatCount(myPermissions.length, 'permission')}`)
}

/** Returns the slug of the project that the options, a variable or the link name, or null if nothing names one. */
async function findProject(
  context: Context,
  connection: Connection,
  options: ParentOptions,
): Promise<string | null> {
  try {
    return (await getProject(context, connection, options)).slug ?? null
  } catch (error) {
    if (error instanceof Failure && error.kind === 'usage') return null
    throw error
  }
}
