// Tests tables: their width, the times in them, and --watch.
import { expect, test } from 'vitest'
import { fitTable } from '../src/table-fit.ts'
import { cutToWidth, getWidth, padToWidth } from '../src/text-width.ts'
import { formatTime } from '../src/time-cells.ts'
import { startFollower } from './kit/follower.ts'
import { startProxy } from './kit/proxy.ts'
import { useSvc } from './kit/svc.ts'

const { service, env, folder, svc, json } = useSvc()
const now = new Date('2026-11-20T12:00:00.000Z')

test.each([
  ['2026-11-20T12:00:00.000Z', 'now'],
  ['2026-11-20T11:59:58.000Z', '2 s ago'],
  ['2026-11-20T11:58:59.000Z', '1 min ago'],
  ['2026-11-20T09:00:00.000Z', '3 h ago'],
  ['2026-11-18T11:00:00.000Z', '2 d ago'],
  ['2026-11-20T12:05:00.000Z', 'in 5 min'],
  ['2026-11-30T13:00:00+01:00', 'in 10 d'],
  ['2026-10-01T12:00:00.000Z', '2026-10-01'],
])('%s is %s', (time, expected) => {
  expect(formatTime(time, 'relative', now)).toBe(expected)
})

test('a time in UTC has no offset, and RFC 3339 is unchanged', () => {
  expect(formatTime('2026-11-20T13:00:00.123+01:00', 'utc', now)).toBe('2026-11-20 12:00:00 UTC')
  expect(formatTime('2026-11-20T13:00:00+01:00', 'iso', now)).toBe('2026-11-20T13:00:00+01:00')
})

test('the width of text counts columns, not characters', () => {
  expect([getWidth('shop'), getWidth('店铺'), getWidth('é'), getWidth('👩‍💻')]).toEqual([4, 4, 1, 2])
  expect(cutToWidth('Web shop', 8)).toBe('Web shop')
  expect(cutToWidth('Web shop', 5)).toBe('Web …')
  expect(cutToWidth('店铺店铺', 5)).toBe('店铺…')
  expect(cutToWidth('shop', 0)).toBe('')
  expect(padToWidth('店', 4)).toBe('店  ')
})

const columns = ['slug', 'name', 'id']
const row = ['shop', 'A very long name that nobody can read at once', '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de']
const fit = (width: number) => fitTable({ columns, header: ['SLUG', 'NAME', 'ID'], rows: [row] }, width)

test('a table that fits is unchanged; otherwise, long texts are cut, then ids are left out', () => {
  expect(fit(200).rows).toEqual([row])
  expect(fit(80).rows).toEqual([['shop', 'A very long name that nobody can re…', row[2]]])
  expect(fit(50)).toMatchObject({
    header: ['SLUG', 'NAME'],
    rows: [['shop', 'A very long name that nobody can read at on…']],
  })
  for (let width = 10; width < 120; width++) {
    const { header, rows } = fit(width)
    const total = [header, ...rows].map((cells) => getWidth(cells.join('  ')))
    expect(Math.max(...total)).toBeLessThanOrEqual(width)
  }
})

test('a list fits the terminal, has relative times there, and is complete in a pipe', async () => {
  await svc(['tenants', 'create', 'wide', '--name', 'A very long name for a narrow terminal', '-p', 'main'])
  const list = ['tenants', 'list', '-p', 'main']
  const narrow = await svc(list, { isTerminal: true, columns: 40 })
  const lines = narrow.out.trimEnd().split('\n')
  expect(lines.filter((line) => line.length > 40)).toEqual([])
  expect(narrow.out).toContain('…')
  expect((await svc(list, { columns: 40 })).out).toContain('A very long name for a narrow terminal')

  const projects = ['projects', 'list']
  expect((await svc(projects, { isTerminal: true, columns: 120 })).out).toMatch(/ (now|\d+ (s|min) ago) /)
  expect((await svc(projects)).out).toMatch(/ \d{4}-\d{2}-\d{2}T[\d:.]+Z /)
  for (const isTerminal of [true, false]) {
    expect((await svc([...projects, '--utc'], { isTerminal, columns: 120 })).out).toMatch(
      / [\d-]{10} [\d:]{8} UTC /,
    )
    expect((await svc([...projects, '--iso'], { isTerminal, columns: 120 })).out).toMatch(
      / [\d-]{10}T[\d:.]+Z /,
    )
  }
  expect(await json(projects)).toMatchObject([{ createdAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/) }])
  expect(await svc([...projects, '--utc', '--iso'])).toMatchObject({ code: 2 })
})

test('--watch repeats a list, replaces the screen, and survives an unavailable Manager', async () => {
  let isCut = false
  const shaky = await startProxy(service.url, () => (isCut ? 503 : undefined))
  const watched = { ...env, SVC_URL: shaky.url }
  const args = ['tenants', 'list', '-p', 'main', '--watch', '--interval', '1']
  const follower = startFollower(folder.path, args, { env: watched, isTerminal: true, columns: 100 })
  try {
    await follower.waitForLines(2)
    isCut = true
    await expect.poll(follower.errors).toContain('Repeating in 1 s; press Ctrl-C to stop.')
    isCut = false
    await svc(['tenants', 'create', 'watched', '--name', 'Watched', '-p', 'main'])
    await expect.poll(() => follower.lines().some((line) => line.startsWith('watched '))).toBe(true)
    const { out } = await follower.stop()
    expect(out.split('\u001b[H\u001b[2J').length).toBeGreaterThanOrEqual(3)
  } finally {
    await shaky.close()
  }
})

test('a rejected command is not repeated', async () => {
  const { code, err } = await svc(['tenants', 'list', '-p', 'no-such-project', '--watch'])
  expect([code, err]).toEqual([4, expect.stringContaining('does not exist')])
  expect((await svc(['tenants', 'list', '-p', 'main', '--watch', '--interval', '0'])).code).toBe(2)
})
