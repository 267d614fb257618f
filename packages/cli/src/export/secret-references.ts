// The API never returns secrets. An export names the file for each secret, as documents of `apply` do.
import { createHash } from 'node:crypto'
import type { Row } from '../output.ts'
import type { Resource } from '../resource.ts'
import { endpoints } from '../resources/endpoints.ts'
import { machineUsers } from '../resources/machine-users.ts'

/** The key of a document that names a file, and the file. */
export type SecretReference = { key: string; file: string }

/** Returns the reference of a row to its secret, or null if it has none. `path` is the path of the row. */
export function findSecretReference(resource: Resource, path: string, row: Row): SecretReference | null {
  if (resource === machineUsers)
    return row['tokenPrefix'] === null
      ? { key: 'passwordFile', file: getFile('machine-users', path, 'password') }
      : { key: 'tokenFile', file: getFile('machine-users', path, 'token') }
  if (resource !== endpoints) return null
  if (row['authType'] === 'Basic')
    return { key: 'authPasswordFile', file: getFile('endpoints', path, 'password') }
  if (row['authType'] === 'Bearer') return { key: 'authTokenFile', file: getFile('endpoints', path, 'token') }
  return null
}

/** The path consists of two slugs and a name, which may contain slashes. */
function getFile(folder: string, path: string, extension: string): string {
  const [project = '', parent = '', ...name] = path.split('/')
  return `secrets/${project}/${folder}/${parent}/${toFileName(name.join('/'))}.${extension}`
}

/**
 * Returns a file name. A name that is not a valid file name on every system gets a hash, so that two names never share
 * a file.
 */
function toFileName(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]*$/.test(name)) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12)
  return `${name.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '-')}~${hash}`
}
