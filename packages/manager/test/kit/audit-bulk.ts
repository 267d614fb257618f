// Seeds large audit chains with correct hashes, which are computed in the database.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { splitAroundHead, genesisHash, currentForm } from '../../src/platform/audit/entry.ts'

const appendRows = `
    create or replace function seed_chain(chain uuid, rows int, id_placeholder text, before text, middle text,
      after text, sample jsonb, prev bytea) returns void language plpgsql as $$
    declare own uuid; head bytea;
    begin
      for n in 1..rows loop
        own := gen_random_uuid();
        head := sha256(convert_to(
          replace(before, id_placeholder, own::text) || encode(prev, 'hex') || middle || n || after, 'UTF8'));
        insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, form,
          principal_type, principal_id, user_id, ip_address, user_agent, created_at, prev_hash, hash)
        values (chain, n, own, sample->>'entityType', sample->>'entityId', sample->>'action', sample->>'description',
          sample->'metadata', sample->'changes', (sample->>'form')::int, sample#>>'{principal,type}',
          sample#>>'{principal,id}', (sample->>'userId')::uuid, sample->>'ipAddress', sample->>'userAgent',
          (sample->>'createdAt')::timestamptz, prev, head);
        prev := head;
      end loop;
      insert into audit_chains (chain_id, seq, hash) values (chain, rows, prev);
    end $$`

const idPlaceholder = '00000000-0000-4000-8000-0000000000ff'

/** Creates `chains` chains of `rows` rows each and returns their ids. */
export async function seedChains(sql: Pool, chains: number, rows: number): Promise<string[]> {
  await sql.query(appendRows)
  return Promise.all(Array.from({ length: chains }, () => seedChain(sql, rows)))
}

async function seedChain(sql: Pool, rows: number): Promise<string> {
  const chainId = randomUUID()
  const createdAt = new Date().toISOString()
  const entry = {
    form: currentForm,
    chainId,
    id: idPlaceholder,
    entityType: 'tenant',
    entityId: randomUUID(),
    action: 'update',
    description: 'tenant example updated',
    metadata: {},
    changes: { name: { before: 'Example', after: 'Another example' }, slug: { before: 'a', after: 'b' } },
    principal: { type: 'user' as const, id: randomUUID() },
    userId: randomUUID(),
    ipAddress: '203.0.113.7',
    userAgent:
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
    createdAt,
  }
  const { before, middle, after } = splitAroundHead(entry)
  await sql.query('select seed_chain($1, $2, $3, $4, $5, $6, $7, $8)', [
    chainId,
    rows,
    idPlaceholder,
    before,
    middle,
    after,
    JSON.stringify(entry),
    genesisHash,
  ])
  return chainId
}
