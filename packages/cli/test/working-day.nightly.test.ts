// Plays a working day in a terminal: 30 tasks of a maintainer, an operator and an auditor.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createToken } from '@manager/harness/credentials.ts'
import { seedMember, seedUser } from '@manager/harness/seed.ts'
import { useCommandScene } from './kit/command-scene.ts'
import { startShell } from './kit/shell.ts'
import { type Task, type Worker, day, morning } from './kit/working-day.ts'

const { service, proxy, folder, person, play } = useCommandScene()
const shells = {} as Record<Worker, ReturnType<typeof startShell>>

beforeAll(async () => {
  for (const line of morning) {
    const result = await play(line)
    if (result !== null && result.code !== 0) throw new Error(`${result.line}: ${result.err}`)
  }
  const { sql } = service
  const { rows } = await sql.query<{ id: string }>("select id from projects where slug = 'shop'")
  await person('dan')
  const people = {
    maintainer: await person('mia'),
    operator: await seedUser(sql, 'otto', 'administrator'),
    auditor: await seedUser(sql, 'ada', 'administrator'),
  }
  await seedMember(sql, people.maintainer, 'maintainer', { projectId: rows[0]?.id ?? '' })
  for (const who of ['maintainer', 'operator', 'auditor'] as const) {
    const home = path.join(folder.path, who)
    mkdirSync(home)
    const { token } = await createToken(service, people[who])
    writeFileSync(path.join(home, 'token'), token, { mode: 0o600 })
    writeFileSync(path.join(home, 'cart.js'), '//@pilet v:2\n')
    const env = { SVC_URL: proxy.url, SVC_TOKEN_FILE: path.join(home, 'token') }
    shells[who] = startShell('bash', home, env)
  }
})
afterAll(() => {
  for (const shell of Object.values(shells)) shell.close()
})

/** Types a command line, answers its questions with yes, and returns the screen when it has ended. */
async function execute(who: Worker, line: string): Promise<string> {
  const { type, press, screen } = shells[who]
  const mark = `end${Math.random().toString(36).slice(2)}`
  press('C-l')
  // The typed line does not contain the mark.
  type(`${line}; echo ${mark.slice(0, 5)}''${mark.slice(5)}-$?`)
  press('Enter')
  await expect.poll(screen).toMatch(new RegExp(`\\[y/N\\] *$|\\n${mark}-\\d`, 'm'))
  if (!screen().includes(`\n${mark}-`)) {
    type('y')
    press('Enter')
  }
  await expect.poll(screen).toContain(`\n${mark}-`)
  const text = screen()
  expect([line, /\nend\w+-(\d+)/.exec(text)?.[1], text]).toEqual([line, '0', text])
  return text
}

test('no task needs more than two commands, or an id that a person types', () => {
  expect(day).toHaveLength(30)
  expect(new Set(day.map(({ who }) => who)).size).toBe(3)
  const lines = day.flatMap(({ commands }) => [...commands])
  expect(day.filter(({ commands }) => commands.length > 2)).toEqual([])
  expect(lines.filter((line) => /[0-9a-f]{8}-[0-9a-f]{4}|\b[0-9a-f]{12,}\b/i.test(line))).toEqual([])
  expect(lines.filter((line) => !line.startsWith('svc '))).toEqual([])
})

test('the guide names the commands of each task', () => {
  const page = new URL('../../../docs/guides/maintainers/everyday-tasks-with-svc.md', import.meta.url)
  const text = readFileSync(page, 'utf8')
  const lines = day.flatMap(({ commands }) => [...commands])
  expect(lines.filter((line) => !text.includes(`\`${line}\``))).toEqual([])
})

// The tasks build on each other, so they run in their order.
test.each(day.map((one): [Worker, string, Task] => [one.who, one.task, one]))(
  'the %s can %s',
  async (who, _task, { commands, shows }) => {
    let text = ''
    for (const line of commands) text = await execute(who, line)
    expect(text).toMatch(shows)
  },
)
