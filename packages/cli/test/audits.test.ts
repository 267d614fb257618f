// Tests the commands for auditors: the verification of the trail, evidence and access reviews.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { useSvc } from './kit/svc.ts'

const { service, project, folder, svc, json, person } = useSvc()
const file = (name: string): string => path.join(folder.path, name)
type Report = { report_id: string; entries: { recommendation: string }[] }

test('audit verify verifies the whole trail, and names the first broken entry', async () => {
  for (const slug of ['one', 'two', 'three'])
    expect((await svc(['tenants', 'create', slug, '--name', slug, '-p', 'main'])).code).toBe(0)
  expect((await svc(['audit', 'verify', '-p', 'main'])).out).toMatch(
    /^Verified 3 entries of project main\. The last hash is [0-9a-f]{64}\.\n$/,
  )
  expect(await json(['audit', 'status', '-p', 'main'])).toMatchObject({ entries: 3, firstBrokenSeq: null })
  await service.sql.query('alter table audit_logs disable trigger user')
  const broken = "update audit_logs set description = 'nothing' where chain_id = $1 and seq = 2"
  await service.sql.query(broken, [project.id])
  await service.sql.query('alter table audit_logs enable trigger user')
  const { code, err } = await svc(['audit', 'verify', '-p', 'main'])
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(
      /^svc: The audit trail is broken at entry 2: .*\. Inform the operator, and keep an export: svc audit export --file trail\.ndjson\n$/,
    ),
  ])
})

test('evidence is a table for people, and complete in JSON and in files of mode 600', async () => {
  await person('ann')
  await svc(['members', 'add', 'ann@example.com', '--role', 'tester', '-p', 'main'])
  const run = ['evidence', 'run', 'access-grants']
  const shown = await svc(run)
  expect([shown.code, shown.out, shown.err]).toEqual([
    0,
    expect.stringContaining('ann@example.com'),
    'For all columns, pass --json or --file.\n',
  ])
  expect(shown.out).not.toContain(project.id)
  expect(await json(run)).toMatchObject({ name: 'access-grants', row_count: 1, truncated: false })
  const csv = file('grants.csv')
  expect((await svc([...run, '--format', 'csv', '--file', csv])).err).toBe(`Wrote ${csv}.\n`)
  expect([readFileSync(csv, 'utf8'), statSync(csv).mode & 0o777]).toEqual([
    expect.stringContaining('ann@example.com'),
    0o600,
  ])
  expect((await svc(['evidence', 'run', 'no-query'])).code).toBe(4)
})

test('an attestation refers to the report that was reviewed, and fails after a change', async () => {
  const report = file('review.json')
  const show = await svc(['review', 'show', '-p', 'main', '--file', report])
  expect(show.err).toBe(`Wrote ${report}. To record your decision, run: svc review attest ${report}\n`)
  const { report_id: reportId, entries } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const attest = (...args: string[]) => svc(['review', 'attest', report, '--decision', 'approve', ...args])
  expect((await attest('--comment', 'Q4')).err).toContain('Pass --yes.')
  const attested = await attest('--comment', 'Q4', '--yes', '--json')
  expect(JSON.parse(attested.out)).toMatchObject({ report_id: reportId, entries: entries.length })

  const recommendation = entries[0]?.recommendation ?? ''
  const count = entries.filter((entry) => entry.recommendation === recommendation).length
  const some = await attest('--only', recommendation, '--justification', 'known', '--yes')
  expect(some.out).toBe(
    `Attested ${count} ${count === 1 ? 'entry' : 'entries'}. Keep ${report} as evidence.\n`,
  )
  expect((await attest('--justification', 'known', '--yes')).err).toBe(
    'svc: --justification needs --only. For all entries, pass --comment.\n',
  )

  await person('ben')
  await svc(['members', 'add', 'ben@example.com', '--role', 'tester', '-p', 'main'])
  const { code, err } = await attest('--yes')
  expect([code, err]).toEqual([1, expect.stringMatching(/^svc: The Manager rejected the request: /)])
  writeFileSync(file('other.json'), '[1]')
  expect((await svc(['review', 'attest', file('other.json'), '--decision', 'approve'])).err).toBe(
    `svc: ${file('other.json')} is not a report. Create a report with: svc review show --file review.json\n`,
  )
})
