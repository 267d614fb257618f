// One operation of the schema as the matrix tries it.
import type { SeededProject } from '@manager/harness/seed.ts'
import type { Principal, seenBy } from './principals.ts'
import { type MatrixWorld, newSlug } from './world.ts'

export type Operation = {
  /** Type.field as the schema names it. */
  name: string
  scope: keyof typeof seenBy
  allow: Principal[]
  /** The text of the call on a project's things; `id` is a thing made for this call alone. */
  text: (target: SeededProject, id: string) => string
  make: (world: MatrixWorld, target: SeededProject) => Promise<string>
  /** What an allowed call that always errs says. */
  errs?: RegExp
  /** True when a success takes the fixture with it. */
  consumes?: true
}

export type Rest = Partial<Pick<Operation, 'make' | 'errs' | 'consumes'>>
export const op = (
  name: string,
  scope: Operation['scope'],
  allow: Principal[],
  text: Operation['text'],
  rest: Rest = {},
): Operation => ({
  name,
  scope,
  allow: ['administrator', ...allow],
  text,
  make: () => Promise.resolve(newSlug()),
  ...rest,
})
