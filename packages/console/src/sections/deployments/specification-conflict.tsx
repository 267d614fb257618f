// Compares two changes of a specification that are based on the same state.
import type { ReactNode } from 'react'
import type { Failure } from '../../api/failures.ts'
import { ConflictDialog } from '../../app/conflict-dialog.tsx'
import { useText } from '../../texts/language.tsx'
import type { TextKey } from '../../texts/texts.ts'
import type { Specification } from './deployment-types.ts'
import { type FieldName, type SpecificationValues, fieldNames, readValues } from './specification-values.ts'

const labels = {
  workload: 'deployments.workload',
  image: 'deployments.image',
  version: 'deployments.version',
  minReplicas: 'deployments.minReplicas',
  maxReplicas: 'deployments.maxReplicas',
  port: 'deployments.port',
  healthPath: 'deployments.healthPath',
  readinessTimeoutSeconds: 'deployments.readinessTimeout',
} as const satisfies Record<FieldName, TextKey>

type SpecificationConflictProps = {
  base: Specification
  theirs: Specification
  yours: SpecificationValues
  isPending: boolean
  failure: Failure
  onSave: (merged: SpecificationValues) => void
  onBack: () => void
  onDiscard: () => void
}

export function SpecificationConflict({
  base,
  theirs,
  yours,
  isPending,
  failure,
  ...props
}: SpecificationConflictProps): ReactNode {
  const t = useText()
  const [baseValues, theirValues] = [readValues(base), readValues(theirs)]
  return (
    <ConflictDialog
      title={t('deployments.conflictTitle')}
      changedBy={failure.changedBy}
      fields={fieldNames.map((name) => ({
        id: name,
        label: t(labels[name]),
        base: baseValues[name],
        theirs: theirValues[name],
        yours: yours[name],
      }))}
      isPending={isPending}
      // The dialog itself explains the conflict.
      failure={null}
      onSave={(sides) =>
        props.onSave(
          Object.fromEntries(
            fieldNames.map((name) => [name, sides.get(name) === 'theirs' ? theirValues[name] : yours[name]]),
          ) as SpecificationValues,
        )
      }
      onBack={props.onBack}
      onDiscard={props.onDiscard}
    />
  )
}
