// English texts for sections/deployments.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const deployments = {
  // list
  'deployments.one': 'Deployment',
  'deployments.search': 'Application',
  'deployments.application': 'Application',
  'deployments.environment': 'Environment',
  'deployments.backends': 'Backends',
  'deployments.version': 'Version',
  'deployments.versionUnknown': 'unknown',
  'deployments.moreVersions': (first: string, count: number) => `${first} and ${count} more`,
  'deployments.heartbeat': 'Heartbeat',
  'deployments.workload': 'Workload',
  'deployments.replicas': 'Replicas',
  'deployments.noSpecification': 'no specification',
  'deployments.noneRegistered': 'none',
  'deployments.live': (count: string) => `${count} live`,
  'deployments.partlyLive': (live: string, total: string) => `${live} of ${total} live`,
  'deployments.noneLive': 'none live',
  'deployments.asleep': 'asleep',
  'deployments.waking': 'waking',
  'deployments.empty': 'No applications yet',
  'deployments.emptyHint': 'Each application of the project has a deployment in every environment.',
  'deployments.noMatch': 'No matching applications',
  'deployments.noMatchHint': 'The filter hides all deployments.',

  // specification
  'deployments.specification': 'Specification',
  'deployments.noSpecificationHint':
    'This deployment has no specification. Its backends can register without one.',
  'deployments.specificationHint':
    'The specification describes the workload. Saving it does not change the running workload.',
  'deployments.newTitle': (application: string) => `New specification of ${application}`,
  'deployments.editTitle': (application: string) => `Edit the specification of ${application}`,
  'deployments.new': 'New specification',
  'deployments.inEnvironment': 'Environment:',
  'deployments.image': 'Image',
  'deployments.minReplicas': 'Minimum replicas',
  'deployments.maxReplicas': 'Maximum replicas',
  'deployments.port': 'Port',
  'deployments.healthPath': 'Health path',
  'deployments.readinessTimeout': 'Readiness timeout (s)',
  'deployments.seconds': (count: string) => `${count} s`,
  'deployments.workloadHint': 'The namespace and name, such as shop/web.',
  'deployments.workloadFixed': 'The workload cannot be changed while scale to zero is on.',
  'deployments.wholeNumber': 'Enter a whole number.',
  'deployments.empty.version': 'empty',
  'deployments.created': 'Created',
  'deployments.changed': 'Changed',
  'deployments.conflictTitle': 'Somebody else changed this specification',
  'deployments.deleteTitle': (workload: string) => `Delete the specification of ${workload}?`,
  'deployments.deleteHint':
    'The workload keeps running, and its backends stay registered. Visitors can no longer wake it.',
  'deployments.readOnly': 'With your role, you can only view this deployment.',

  // scale to zero
  'deployments.scaleToZero': 'Scale to zero',
  'deployments.on': 'on',
  'deployments.off': 'off',
  'deployments.scaleToZeroOn': 'The workload may sleep with zero replicas. Visitors wake it.',
  'deployments.scaleToZeroOff': 'The workload never sleeps, so it cannot be woken.',
  'deployments.onlyOperator':
    'The console cannot change this. Only the operator of the Manager can, with this command:',

  // backends
  'deployments.state': 'State',
  'deployments.lastHeartbeat': 'Last heartbeat',
  'deployments.showAll': 'Show all',
  'deployments.noBackends': 'No backend is registered. Backends register when they start.',
  'deployments.sleepingHint': 'No backend is registered. The workload may be scaled to zero.',
  'deployments.isLive': 'live',
  'deployments.isSilent': 'silent',
  'deployments.isGone': 'gone',
  'deployments.liveHint': 'The backend receives callbacks.',
  'deployments.silentHint':
    'The backend receives no callbacks: it sends no heartbeats, or its machine user is disabled.',
  'deployments.goneHint': 'The backend is no longer registered.',
  'deployments.registered': 'registered',

  // wake
  'deployments.wake': 'Wake',
  'deployments.wakeAgain': 'Wake again',
  'deployments.wakeTitle': 'Waking',
  'deployments.wakeNeedsSpecification': 'The deployment has no specification',
  'deployments.wakeNeedsFlag': 'Scale to zero is off, so the workload does not sleep',
  'deployments.wakeIsLive': 'The deployment is awake: a backend is live',
  'deployments.dismiss': 'Dismiss',
  'deployments.askStep': 'Ask the orchestrator to start the workload',
  'deployments.asked': (replicas: string) => `The workload starts with at least ${replicas}`,
  'deployments.alreadyAwake': (replicas: string) => `The workload already had at least ${replicas}`,
  'deployments.replicaCount': (count: number) => plural(count, { one: '# replica', other: '# replicas' }),
  'deployments.askUnknown':
    'The connection failed before the response arrived, so the result is unknown. Waking again is safe.',
  'deployments.askFailed': (reason: string) => `The deployment was not woken: ${reason}`,
  'deployments.startStep': 'Wait until a backend registers',
  'deployments.started': (count: number) =>
    plural(count, { one: '# backend is live', other: '# backends are live' }),
  'deployments.readyStep': 'Ready for callbacks',
  'deployments.waitingFor': (seconds: string) => `for ${seconds} s`,
  'deployments.leaveHint': 'You can leave this page. The wake continues, and this panel shows its progress.',
  'deployments.tooSlow': (seconds: string, workload: string) =>
    `No backend has registered within ${seconds} s, the readiness timeout of the specification. Check that the pods of ${workload} start, and that they can reach the Manager. The console keeps waiting.`,
}
