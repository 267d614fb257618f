// login, logout and whoami.
import { ResponseError, graphql } from '@manager/client'
import { meDocument, revokeTokenDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, does } from '../context.ts'
import { type Profile, credentialsFile, findProfile, removeProfile, saveProfile } from '../credentials.ts'
import { Failure } from '../failures.ts'
import { obtainToken } from '../login.ts'
import { printDone, printRow, remark } from '../output.ts'
import { tokens } from '../resources/tokens.ts'
import { listRows } from '../rows.ts'
import { checkedUrl, namedUrl, openConnection } from '../session.ts'
import type { World } from '../world.ts'

/** Adds the commands by which a person signs in and out. */
export function addSignInCommands(program: Command, world: World): void {
  const login = addCommand(program, {
    name: 'login',
    summary: 'Signs you in with a browser.',
    description: 'Signs you in with a browser, on this machine or on another one, and keeps a token for you.',
    examples: [
      'login --url https://manager.example.com',
      'login --profile test --url https://test.example.com',
    ],
  }).option(
    '--token-name <name>',
    'how the token is called in your list; the name of this machine if not said',
  )
  does<{ tokenName?: string }>(login, world, logIn)
  const logout = addCommand(program, {
    name: 'logout',
    description: 'Revokes the token that is kept for you, and forgets it.',
    examples: ['logout', 'logout --profile test'],
  }).option('--forget', 'forget it even where it cannot be revoked')
  does<{ forget?: boolean }>(logout, world, logOut)
  const whoami = addCommand(program, {
    name: 'whoami',
    description: 'Shows who you are to the Manager.',
    examples: ['whoami', 'whoami --output json'],
  })
  does(whoami, world, async (context) => {
    const connection = await context.connect()
    const { me } = await graphql(connection, meDocument, {}, { signal: context.signal })
    printRow(world, context.format, { ...me, url: connection.url })
  })
}

async function logIn(
  context: Context,
  _args: string[],
  { tokenName }: { tokenName?: string },
): Promise<void> {
  const { world, place, format, signal } = context
  const kept = await findProfile(world, place.profile)
  const url =
    namedUrl(world, place) ?? (kept === null ? null : checkedUrl(kept.url, place.plainHttp ?? false))
  if (url === null) throw new Failure('usage', 'Where is the Manager? Add --url <address>, or set SVC_URL.')
  const name = tokenName ?? `svc on ${world.hostname}`.slice(0, 100)
  const { token, expiresAt } = await obtainToken(world, openConnection(url), name)
  await saveProfile(world, place.profile, { url, token, tokenName: name, expiresAt })
  if (kept !== null && kept.url === url) await revokeFormer(context, kept)
  // Not as whom the environment names: the new token is asked about.
  const { me } = await graphql(openConnection(url, token), meDocument, {}, { signal })
  const until = expiresAt === null ? '' : ` until ${expiresAt}`
  printDone(world, format, `Signed in to ${url} as ${me.externalUsername}${until}.`, {
    url,
    ...me,
    expiresAt,
  })
  remark(world, `The token is in ${credentialsFile(world)}.`)
}

async function logOut(
  context: Context,
  _args: string[],
  { forget = false }: { forget?: boolean },
): Promise<void> {
  const { world, place } = context
  const profile = await findProfile(world, place.profile)
  if (profile === null) return remark(world, 'Nobody is signed in.')
  try {
    await revoke(context, profile)
  } catch (error) {
    if (!forget) {
      remark(
        world,
        'The token could not be revoked, and is kept. To forget it nevertheless: svc logout --forget',
      )
      throw error
    }
    remark(
      world,
      'The token could not be revoked, and works until it expires. Revoke it in your list of tokens.',
    )
  }
  await removeProfile(world, place.profile)
  remark(world, `Signed out of ${profile.url}.`)
}

/** Nobody has the token any more that a new one has replaced. */
async function revokeFormer(context: Context, profile: Profile): Promise<void> {
  try {
    await revoke(context, profile)
  } catch {
    remark(
      context.world,
      `The former token (${prefixOf(profile)}) could not be revoked, and works until it expires. See: svc tokens list`,
    )
  }
}

/** What lists show of a token: pat_<prefix>_<secret>. */
const prefixOf = ({ token }: Pick<Profile, 'token'>): string => token.split('_')[1] ?? ''

/** Takes the kept token out of service; one that is refused already is out of service. */
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
