// Defines an operation of the schema that the matrix runs.
import type { SeededProject } from '@manager/harness/seed.ts'
import type { Principal, seenBy } from './principals.ts'
import { type MatrixWorld, newSlug } from './world.ts'

export type Operation = {
  /** Type and field, as `Type.field`. */
  name: string
  scope: keyof typeof seenBy
  allow: Principal[]
  /**
   * Returns the document of a call on the objects of a project. `id` is an object that was created only for this call.
   */
  text: (target: SeededProject, id: string) => string
  make: (world: MatrixWorld, target: SeededProject) => Promise<string>
  /** The error of a call that always fails, even for allowed callers. */
  alwaysFailsWith?: RegExp
  /** True if a successful call consumes the object that `make` created. */
  consumes?: true
}

export type Rest = Partial<Pick<Operation, 'make' | 'alwaysFailsWith' | 'consumes'>>
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
