// login, logout and whoami.
import { ResponseError, graphql } from '@manager/client'
import { meDocument, revokeTokenDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { type Profile, credentialsFile, findProfile, removeProfile, saveProfile } from '../credentials.ts'
import { Failure } from '../failures.ts'
import { obtainToken } from '../login.ts'
import { printDone, printRow, remark } from '../output.ts'
import { tokens } from '../resources/tokens.ts'
import { listRows } from '../rows.ts'
import { checkedUrl, namedUrl, openConnection } from '../session.ts'
import type { Terminal } from '../terminal.ts'

/** Adds the commands by which a person signs in and out. */
export function addSignInCommands(program: Command, terminal: Terminal): void {
  const login = addCommand(program, {
    name: 'login',
    summary: 'Signs you in with a browser.',
    description: 'Signs you in with a browser on any machine, and stores a token.',
    examples: [
      'login --url https://manager.example.com',
      'login --profile test --url https://test.example.com',
    ],
  }).option('--token-name <name>', 'the name of the token in your list (default: the name of this machine)')
  setAction<{ tokenName?: string }>(login, terminal, logIn)
  const logout = addCommand(program, {
    name: 'logout',
    description: 'Revokes and deletes the stored token.',
    examples: ['logout', 'logout --profile test'],
  }).option('--forget', 'delete it even if it cannot be revoked')
  setAction<{ forget?: boolean }>(logout, terminal, logOut)
  const whoami = addCommand(program, {
    name: 'whoami',
    description: 'Shows the signed-in user.',
    examples: ['whoami', 'whoami --output json'],
  })
  setAction(whoami, terminal, async (context) => {
    const connection = await context.connect()
    const { me } = await graphql(connection, meDocument, {}, { signal: context.signal })
    printRow(terminal, context.format, { ...me, url: connection.url })
  })
}

async function logIn(
  context: Context,
  _args: string[],
  { tokenName }: { tokenName?: string },
): Promise<void> {
  const { terminal, target, format, signal } = context
  const stored = await findProfile(terminal, target.profile)
  const url =
    namedUrl(terminal, target) ?? (stored === null ? null : checkedUrl(stored.url, target.plainHttp ?? false))
  if (url === null)
    throw new Failure('usage', 'The address is missing. Pass --url <address>, or set SVC_URL.')
  const name = tokenName ?? `svc on ${terminal.hostname}`.slice(0, 100)
  const { token, expiresAt } = await obtainToken(terminal, openConnection(url), name)
  await saveProfile(terminal, target.profile, { url, token, tokenName: name, expiresAt })
  if (stored !== null && stored.url === url) await revokePrevious(context, stored)
  // Use the new token: SVC_TOKEN may belong to another user.
  const { me } = await graphql(openConnection(url, token), meDocument, {}, { signal })
  const until = expiresAt === null ? '' : ` until ${expiresAt}`
  printDone(terminal, format, `Signed in to ${url} as ${me.externalUsername}${until}.`, {
    url,
    ...me,
    expiresAt,
  })
  remark(terminal, `The token is in ${credentialsFile(terminal)}.`)
}

async function logOut(
  context: Context,
  _args: string[],
  { forget = false }: { forget?: boolean },
): Promise<void> {
  const { terminal, target } = context
  const profile = await findProfile(terminal, target.profile)
  if (profile === null) return remark(terminal, 'You are not signed in.')
  try {
    await revoke(context, profile)
  } catch (error) {
    if (!forget) {
      remark(
        terminal,
        'The token could not be revoked and is still stored. To delete it anyway, run: svc logout --forget',
      )
      throw error
    }
    remark(
      terminal,
      'The token could not be revoked and works until it expires. Revoke it in your token list.',
    )
  }
  await removeProfile(terminal, target.profile)
  remark(terminal, `Signed out of ${profile.url}.`)
}

/** Revokes the replaced token, which is no longer stored anywhere. Only warns if that fails. */
async function revokePrevious(context: Context, profile: Profile): Promise<void> {
  try {
    await revoke(context, profile)
  } catch {
    remark(
      context.terminal,
      `The previous token (${prefixOf(profile)}) could not be revoked and works until it expires. See: svc tokens list`,
    )
  }
}

/** Lists show this part of a token of the form pat_<prefix>_<secret>. */
const prefixOf = ({ token }: Pick<Profile, 'token'>): string => token.split('_')[1] ?? ''

/** Revokes the stored token. A 401 means that the token is already invalid. */
async function revoke({ signal }: Context, { url, token }: Profile): Promise<void> {
  const connection = openConnection(url, token)
  const prefix = prefixOf({ token })
  try {
    const { rows } = await listRows(connection, tokens, null, { signal })
    const own = rows.find(({ tokenPrefix, revoked }) => tokenPrefix === prefix && revoked === false)
    if (own !== undefined)
      await graphql(connection, revokeTokenDocument, { id: String(own['id']) }, { signal })
  } catch (error) {
    if (!(error instanceof ResponseError) || error.status !== 401) throw error
  }
}
