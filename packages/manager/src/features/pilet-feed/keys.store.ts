import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'

const statement: PreparedStatement = {
  name: 'pilet-keys',
  kind: 'read',
  size: 'large',
  text: `
    select (select coalesce(json_object_agg(k.key_id, encode(k.public_key, 'base64') order by k.created_at, k.key_id), '{}')
      from pilet_signing_keys k) as keys
    from applications a where a.id = $1`,
}

/** Returns the public keys of the ring in base64, keyed by key id, or undefined if the application does not exist. */
export async function readPublicKeys(
  run: RunPrepared,
  applicationId: string,
): Promise<Record<string, string> | undefined> {
  const [row] = await run<{ keys: Record<string, string> }>(statement, [applicationId])
  return row?.keys
}
