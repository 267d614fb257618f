#!/usr/bin/env node
// The program behind `manager legacy`.
import { createTerminal, processSource } from '@manager/manager/commands'
import { run } from './command.ts'

// Whoever started it is gone, killed perhaps: an import must not go on unseen.
process.once('disconnect', () => process.exit(1))
process.channel?.unref()

const { env } = processSource()
const { stdout, stderr } = process
const exit = (code: number): never => process.exit(code)
process.exitCode = await run(process.argv.slice(2), createTerminal({ env, stdout, stderr, exit }))
