import { createLongestFirst } from '@manager/harness/longest-first.ts'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: ['packages/*/vitest.load.config.ts'],
    sequence: {
      sequencer: createLongestFirst(['fair-shares', 'cli-login-kills', 'revocation', 'open-files']),
    },
  },
})
