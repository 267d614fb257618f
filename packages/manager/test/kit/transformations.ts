// Builds template transformations, and returns the outcome of rendering them.
import { poolLimits } from '../../src/features/transformations/transform-pool.service.ts'
import type { RenderOptions } from '../../src/features/transformations/transform.pure.ts'
import { TransformProblem } from '../../src/features/transformations/transform.service.ts'

export const options: RenderOptions = {
  builtins: true,
  missingKey: 'default',
  env: { SVC_REGION: 'eu-1' },
  maxOutputBytes: 10 * 1_048_576,
}
export const at = new Date('2026-11-15T08:09:10.123Z')
// Limits with a long timeout, because the machine that runs the tests may be slow.
export const patientLimits = { ...poolLimits, maxMs: 30_000 }

export type Input = { template: string; body: string | Buffer; type?: string | null; application?: string }
export const transformationOf = ({ template, body, type = null, application = 'one' }: Input) => ({
  template,
  inputMessageType: type,
  outputMessageType: null,
  body: typeof body === 'string' ? Buffer.from(body) : body,
  projectId: application,
  application: { id: application, name: '', slug: 'shop', description: '' },
  endpoint: { id: '', name: 'Orders', consumeUrl: '/', url: null, description: '' },
  user: { id: '', username: '', name: 'Ada' },
  at,
})
/** Returns the rendered text, or the problem that prevented rendering. */
export const outcome = async (render: () => unknown): Promise<unknown> => {
  try {
    return String(await render())
  } catch (error) {
    if (error instanceof TransformProblem) return { of: error.source, message: error.message }
    throw error
  }
}
