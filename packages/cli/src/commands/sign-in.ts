// The commands login and logout.
import { ResponseError, graphql } from '@manager/client'
import { meDocument, revokeTokenDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { type Profile, getCredentialsPath, findProfile, removeProfile, saveProfile } from '../credentials.ts'
import { Failure } from '../failures.ts'
import { obtainToken } from '../login.ts'
import { printResult, printRemark } from '../output.ts'
import { tokens } from '../resources/tokens.ts'
import { listRows } from '../rows.ts'
import { checkUrl, getConfiguredUrl, openConnection } from '../session.ts'
import type { Terminal } from '../terminal.ts'

type LoginOptions = { tokenName?: string; browser: boolean }

export function addLoginCommand(program: Command, terminal: Terminal): void {
  const login = addCommand(program, {
    name: 'login',
    summary: 'Sign in with a browser.',
    description: 'Sign in with a browser, which may run on a different machine, and store a token.',
    examples: [
      'login --url https://manager.example.com',
      'login --profile test --url https://test.example.com',
    ],
  })
    .option('--token-name <name>', 'the name of the token in your token list (default: svc on <host name>)')
    .option('--no-browser', 'print the address, but do not open it in a browser')
  setAction<LoginOptions>(login, terminal, logIn)
}

export function addLogoutCommand(program: Command, terminal: Terminal): void {
  const logout = addCommand(program, {
    name: 'logout',
    description: 'Revoke and delete the stored token.',
    examples: ['logout', 'logout --profile test'],
  }).option('--forget', 'delete the token even if it cannot be revoked')
  setAction<{ forget?: boolean }>(logout, terminal, logOut)
}

async function logIn(
  context: Context,
  _args: string[],
  { tokenName, browser: opensBrowser }: LoginOptions,
): Promise<void> {
  const { terminal, target, format, signal } = context
  const storedProfile = await findProfile(terminal, target.profile)
  const url =
    getConfiguredUrl(terminal, target) ??
    (storedProfile === null ? null : checkUrl(storedProfile.url, target.plainHttp ?? false))
  if (url === null)
    throw new Failure('usage', 'The address is missing. Pass --url <address>, or set SVC_URL.')
  const name = tokenName ?? `svc on ${terminal.hostname}`.slice(0, 100)
  const tokenOptions = { tokenName: name, opensBrowser }
  const { token, expiresAt } = await obtainToken(terminal, openConnection(url), tokenOptions)
  await saveProfile(terminal, target.profile, { url, token, tokenName: name, expiresAt })
  if (storedProfile !== null && storedProfile.url === url) await revokePrevious(context, storedProfile)
  // Use the new token: SVC_TOKEN may belong to a different user.
  const { me } = await graphql(openConnection(url, token), meDocument, {}, { signal })
  const expiryText = expiresAt === null ? '' : ` until ${expiresAt}`
  printResult(terminal, format, `Signed in to ${url} as ${me.externalUsername}${expiryText}.`, {
    url,
    ...me,
    expiresAt,
  })
  printRemark(terminal, `The token is in ${getCredentialsPath(terminal)}.`)
}

async function logOut(
  context: Context,
  _args: string[],
  { forget = false }: { forget?: boolean },
): Promise<void> {
  const { terminal, target } = context
  const profile = await findProfile(terminal, target.profile)
  if (profile === null) return printRemark(terminal, 'You are not signed in.')
  try {
    await revoke(context, profile)
  } catch (error) {
    if (!forget) {
      printRemark(
        terminal,
        'The token could not be revoked and is still stored. To delete the token anyway, run: svc logout --forget',
      )
      throw error
    }
    printRemark(
      terminal,
      'The token could not be revoked and works until it expires. Revoke the token in your token list.',
    )
  }
  await removeProfile(terminal, target.profile)
  printRemark(terminal, `Signed out of ${profile.url}.`)
}

/**
 * Revokes the replaced token, which is no longer stored anywhere. Prints a warning if the revocation fails.
 */
async function revokePrevious(context: Context, profile: Profile): Promise<void> {
  try {
    await revoke(context, profile)
  } catch {
    printRemark(
      context.terminal,
      `The previous token (${getTokenPrefix(profile)}) could not be revoked and works until it expires. See: svc tokens list`,
    )
  }
}

/** Returns the prefix that lists show for a token of the form pat_<prefix>_<secret>. */
const getTokenPrefix = ({ token }: Pick<Profile, 'token'>): string => token.split('_')[1] ?? ''

/** Revokes the stored token. A 401 means that the token is already invalid. */
async function revoke({ signal }: Context, { url, token }: Profile): Promise<void> {
  const connection = openConnection(url, token)
  const prefix = getTokenPrefix({ token })
  try {
    const { rows } = await listRows(connection, tokens, null, { signal })
    const storedToken = rows.find(({ tokenPrefix, revoked }) => tokenPrefix === prefix && revoked === false)
    if (storedToken !== undefined)
      await graphql(connection, revokeTokenDocument, { id: String(storedToken['id']) }, { signal })
  } catch (error) {
    if (!(error instanceof ResponseError) || error.status !== 401) throw error
  }
}
