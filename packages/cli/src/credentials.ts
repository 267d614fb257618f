// Who asks, and where: the profiles of a person, in one file that only they may read.
import path from 'node:path'
import { Failure } from './failures.ts'
import { ensurePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'
import type { World } from './world.ts'

export type Profile = { url: string; token: string; tokenName: string; expiresAt: string | null }
type Profiles = Record<string, Profile>

/** Where the credentials of the person are. */
export function credentialsFile({ env, home }: Pick<World, 'env' | 'home'>): string {
  const configured = env['XDG_CONFIG_HOME'] ?? ''
  // The specification has relative paths ignored.
  const base = path.isAbsolute(configured) ? configured : path.join(home, '.config')
  return path.join(base, 'svc', 'credentials.json')
}

async function readProfiles(file: string): Promise<Profiles> {
  const text = await readPrivateFile(file)
  if (text === null) return {}
  try {
    const { profiles } = JSON.parse(text) as { profiles: Profiles }
    return Object.fromEntries(Object.entries(profiles).filter(([, profile]) => isProfile(profile)))
  } catch {
    throw new Failure('failed', `${file} is not what svc writes. Remove it, and sign in again.`)
  }
}

const isProfile = ({ url, token }: Partial<Profile>): boolean =>
  typeof url === 'string' && typeof token === 'string'

async function writeProfiles(file: string, profiles: Profiles): Promise<void> {
  await ensurePrivateFolder(path.dirname(file))
  await writePrivateFile(file, `${JSON.stringify({ profiles }, null, 2)}\n`)
}

/** What is kept under the name, or null. */
export async function findProfile(world: World, name: string): Promise<Profile | null> {
  const profiles = await readProfiles(credentialsFile(world))
  return Object.hasOwn(profiles, name) ? (profiles[name] ?? null) : null
}

/** Keeps the profile, in the place of a former one of that name. */
export async function saveProfile(world: World, name: string, profile: Profile): Promise<void> {
  const file = credentialsFile(world)
  await writeProfiles(file, { ...(await readProfiles(file)), [name]: profile })
}

/** Forgets the profile. */
export async function removeProfile(world: World, name: string): Promise<void> {
  const file = credentialsFile(world)
  const { [name]: _, ...others } = await readProfiles(file)
  await writeProfiles(file, others)
}
