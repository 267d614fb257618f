import { Argument, type Command } from 'commander'
import { setScaleToZero } from '../features/deployments/scale-to-zero.service.ts'
import { createAudit } from '../platform/audit/append.ts'
import { loadCommandConfig, withDatabase } from './context.ts'
import type { Terminal } from './terminal.ts'

const examples = `
Examples:
  $ npm run manager -- deployment scale-to-zero shop/web dev on --workload shop-dev/web
  $ npm run manager -- deployment scale-to-zero 0197a3c2-5f0e-7c3b-9c61-2f1e8f7f4a10 run off`

/** Adds the `manager deployment` commands. */
export function addDeploymentCommands(program: Command, terminal: Terminal): void {
  const deployment = program
    .command('deployment')
    .description('Control which deployments may be scaled to zero.')
    .addHelpText('after', examples)

  deployment
    .command('scale-to-zero')
    .description('Allow or forbid the proxy to wake a deployment.')
    .argument('<application>', 'the id of the application, or its slugs as <project>/<application>')
    .addArgument(new Argument('<env>', 'the environment').choices(['dev', 'qas', 'run']))
    .addArgument(new Argument('<state>', 'the new state').choices(['on', 'off']))
    .option('--workload <namespace/name>', 'proceed only if the specification still has this workload')
    .addHelpText(
      'after',
      `\nThe deployment needs a specification. While scale to zero is on, its workload cannot be changed.\n${examples}`,
    )
    .action(async (...args: unknown[]) => {
      const command = args.at(-1) as Command
      const [application, environment, state] = command.processedArgs as [string, string, string]
      const { workload: expectedWorkload } = command.opts<{ workload?: string }>()
      const request = { application, environment, isOn: state === 'on', workload: expectedWorkload }
      const { name, workload, isChanged } = await withDatabase(
        loadCommandConfig(terminal, command),
        ({ db, clock }) => setScaleToZero({ db, audit: createAudit(clock) }, request),
      )
      terminal.say(
        `Scale to zero is ${isChanged ? 'now' : 'already'} ${state} for ${name} (workload ${workload}).`,
      )
    })
}
