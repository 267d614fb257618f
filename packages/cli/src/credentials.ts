// Stores the profiles of a user, each with an address and a token, in one file that only the user can read.
import path from 'node:path'
import { clearCache } from './completion-cache.ts'
import { Failure } from './failures.ts'
import { ensurePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'
import type { Terminal } from './terminal.ts'

export type Profile = { url: string; token: string; tokenName: string; expiresAt: string | null }
type Profiles = Record<string, Profile>

/** Returns the folder of the user's configuration. It is in XDG_CONFIG_HOME if that variable is set. */
export function getConfigFolder({ env, home }: Pick<Terminal, 'env' | 'home'>): string {
  const configFolder = env['XDG_CONFIG_HOME'] ?? ''
  // The XDG specification requires that relative paths are ignored.
  return path.join(path.isAbsolute(configFolder) ? configFolder : path.join(home, '.config'), 'svc')
}

export const getCredentialsPath = (terminal: Pick<Terminal, 'env' | 'home'>): string =>
  path.join(getConfigFolder(terminal), 'credentials.json')

async function readProfiles(file: string): Promise<Profiles> {
  const text = await readPrivateFile(file)
  if (text === null) return {}
  try {
    const { profiles } = JSON.parse(text) as { profiles: Profiles }
    return Object.fromEntries(Object.entries(profiles).filter(([, profile]) => isProfile(profile)))
  } catch {
    throw new Failure('failed', `${file} is not a valid credentials file. Remove the file and sign in again.`)
  }
}

const isProfile = ({ url, token }: Partial<Profile>): boolean =>
  typeof url === 'string' && typeof token === 'string'

async function writeProfiles(file: string, profiles: Profiles): Promise<void> {
  await ensurePrivateFolder(path.dirname(file))
  await writePrivateFile(file, `${JSON.stringify({ profiles }, null, 2)}\n`)
}

/** Returns the stored profile, or null. */
export async function findProfile(terminal: Terminal, name: string): Promise<Profile | null> {
  const profiles = await readProfiles(getCredentialsPath(terminal))
  return Object.hasOwn(profiles, name) ? (profiles[name] ?? null) : null
}

export const listProfileNames = async (terminal: Terminal): Promise<string[]> =>
  Object.keys(await readProfiles(getCredentialsPath(terminal)))

/** Stores the profile. Replaces an existing profile with the same name. */
export async function saveProfile(terminal: Terminal, name: string, profile: Profile): Promise<void> {
  const file = getCredentialsPath(terminal)
  await clearCache(terminal)
  await writeProfiles(file, { ...(await readProfiles(file)), [name]: profile })
}

export async function removeProfile(terminal: Terminal, name: string): Promise<void> {
  const file = getCredentialsPath(terminal)
  await clearCache(terminal)
  const { [name]: _, ...otherProfiles } = await readProfiles(file)
  await writeProfiles(file, otherProfiles)
}
