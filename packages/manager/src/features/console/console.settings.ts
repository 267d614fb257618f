import { boolean, defineSetting } from '../../config/readers.ts'

export const consoleSettings = {
  consoleEnabled: defineSetting(boolean, {
    key: 'console.enabled',
    env: 'SVC_CONSOLE_ENABLED',
    default: true,
    doc: 'Whether processes with the role api serve the console below /console/. If it is off, these paths return 404.',
  }),
} as const
