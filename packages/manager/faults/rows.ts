// Every row of the programme, by group. Add a row here: import it, and name it in its group.
import type { Row } from './row.ts'
import { f01 } from './rows/f01.ts'
import { f02 } from './rows/f02.ts'
import { f03 } from './rows/f03.ts'
import { f04 } from './rows/f04.ts'
import { f05 } from './rows/f05.ts'
import { f06 } from './rows/f06.ts'
import { f07 } from './rows/f07.ts'
import { f08 } from './rows/f08.ts'
import { f09 } from './rows/f09.ts'
import { f10 } from './rows/f10.ts'
import { f11 } from './rows/f11.ts'
import { f12 } from './rows/f12.ts'
import { f13 } from './rows/f13.ts'
import { f14 } from './rows/f14.ts'
import { f15 } from './rows/f15.ts'
import { f16 } from './rows/f16.ts'
import { f17 } from './rows/f17.ts'
import { f18 } from './rows/f18.ts'
import { f19 } from './rows/f19.ts'
import { f20 } from './rows/f20.ts'
import { f21 } from './rows/f21.ts'
import { f22 } from './rows/f22.ts'
import { f23 } from './rows/f23.ts'
import { f24 } from './rows/f24.ts'
import { f25 } from './rows/f25.ts'
import { f26 } from './rows/f26.ts'
import { f27 } from './rows/f27.ts'
import { f28 } from './rows/f28.ts'
import { f29 } from './rows/f29.ts'
import { f30 } from './rows/f30.ts'
import { f31 } from './rows/f31.ts'
import { f32 } from './rows/f32.ts'
import { f33 } from './rows/f33.ts'
import { f34 } from './rows/f34.ts'
import { f35 } from './rows/f35.ts'
import { f36 } from './rows/f36.ts'
import { f37 } from './rows/f37.ts'
import { f38 } from './rows/f38.ts'
import { f39 } from './rows/f39.ts'
import { f40 } from './rows/f40.ts'
import { f41 } from './rows/f41.ts'
import { f42 } from './rows/f42.ts'
import { f43 } from './rows/f43.ts'
import { f44 } from './rows/f44.ts'
import { f45 } from './rows/f45.ts'

/** The groups; each takes at most twenty minutes, and every row is in one of them. */
export const groups: Record<string, readonly Row[]> = {
  triggers: [f01, f02, f03, f20, f21, f28, f29],
  comms: [f04, f05, f12, f13, f14, f17, f18, f19],
  postgres: [f06, f07, f08, f09, f10, f11, f15],
  requests: [f16, f22, f23, f24, f25, f26, f27, f36, f37],
  operations: [f31, f32, f33, f34, f35],
  failover: [f39, f40, f41, f42, f43, f44, f45],
  minute: [f38],
  soak: [f30],
}

/** The rows that every change has to pass, smaller than they are otherwise: at most eight minutes. */
export const shortRows: readonly Row[] = [f03, f39, f43]

/** Too long to be played with the others; it is played when it is named. */
const longRows: ReadonlySet<string> = new Set(['F30'])

/** Every row, in the order of its number. */
export const allRows: readonly Row[] = Object.values(groups)
  .flat()
  .toSorted((a, b) => a.id.localeCompare(b.id))

type Choice = { rows: readonly Row[]; isShort: boolean }

/** The rows these names stand for, each once: names of rows and groups, or none for all but the longest. */
export function chooseRows(names: readonly string[]): Choice {
  const found = names.map((name) => {
    const rows =
      name.toLowerCase() === 'short'
        ? shortRows
        : (groups[name.toLowerCase()] ?? allRows.filter(({ id }) => id === name.toUpperCase()))
    if (rows.length === 0) throw new Error(`there is no row or group ${name}; --help lists them`)
    return rows
  })
  const rows = names.length === 0 ? allRows.filter(({ id }) => !longRows.has(id)) : [...new Set(found.flat())]
  return { rows, isShort: names.length > 0 && names.every((name) => name.toLowerCase() === 'short') }
}
