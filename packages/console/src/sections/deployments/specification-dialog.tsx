// Creates or edits the specification of a deployment. If another person has saved a change in the meantime, both changes
// are compared.
import type { FieldProblem } from '@manager/client'
import { type ReactNode, useMemo, useState } from 'react'
import type { Failure } from '../../api/failures.ts'
import { FormDialog } from '../../app/form-dialog.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { deploymentCreateDocument, deploymentUpdateDocument } from '../../generated/documents.ts'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Deployment, Specification } from './deployment-types.ts'
import { SpecificationConflict } from './specification-conflict.tsx'
import { SpecificationFields } from './specification-fields.tsx'
import {
  type SpecificationValues,
  dropEdited,
  fieldNames,
  readValues,
  toInput,
} from './specification-values.ts'

type SpecificationDialogProps = { deployment: Deployment; onClose: () => void }

/** Fields whose text is no number are reported like the errors of the API. */
const toFailure = (fields: readonly FieldProblem[]): Failure => ({
  kind: 'invalid',
  message: '',
  fields,
  requestId: null,
  retryAfterMs: null,
  changedBy: null,
})

/** The values of the form, and the saved state on which they are based. */
function useSpecificationForm({ deployment, onClose }: SpecificationDialogProps) {
  const t = useText()
  // The form keeps the state and the revision that the person saw first, even if the deployment is read again.
  const [base, setBase] = useState(deployment.specification)
  const [values, setValues] = useState(readValues(base))
  const [problems, setProblems] = useState<readonly FieldProblem[]>([])
  const [edited, setEdited] = useState<ReadonlySet<string>>(new Set())
  const create = useSubmit(deploymentCreateDocument)
  const update = useSubmit(deploymentUpdateDocument)
  const { isPending, failure, reset } = base === null ? create : update
  const shownFailure = useMemo(
    () => dropEdited(problems.length === 0 ? failure : toFailure(problems), edited),
    [failure, problems, edited],
  )
  const finish = (workload: string): void => {
    showToast(t('app.saved', workload))
    onClose()
  }
  const send = (sent: SpecificationValues, saved: Specification | null): void => {
    const result = toInput(sent, t('deployments.wholeNumber'))
    setEdited(new Set())
    setProblems('problems' in result ? result.problems : [])
    if ('problems' in result) return reset()
    const { input } = result
    if (saved === null) {
      const { application, environment } = deployment
      create.send(
        { application: application.id, input: { ...input, environmentId: environment.id } },
        ({ createDeploymentSpecification: { workload } }) => finish(workload),
      )
    } else
      update.send(
        { id: saved.id, input: { ...input, expectedRevision: saved.revision } },
        ({ updateDeploymentSpecification: { workload } }) => finish(workload),
      )
  }
  return {
    base,
    values,
    change: (changes: Partial<SpecificationValues>) => {
      setValues({ ...values, ...changes })
      setEdited(new Set([...edited, ...Object.keys(changes)]))
    },
    isPending,
    failure: shownFailure,
    reset,
    save: () => send(values, base),
    /** Saves values that are based on a later state. */
    saveMerged: (merged: SpecificationValues, saved: Specification) => {
      setBase(saved)
      setValues(merged)
      send(merged, saved)
    },
  }
}

export function SpecificationDialog({ deployment, onClose }: SpecificationDialogProps): ReactNode {
  const t = useText()
  const form = useSpecificationForm({ deployment, onClose })
  const { base, values, failure } = form
  const latest = deployment.specification
  // A rejected change makes the panel read the deployment again.
  if (failure?.kind === 'conflict' && base !== null && latest !== null && latest.revision !== base.revision)
    return (
      <SpecificationConflict
        key={latest.revision}
        base={base}
        theirs={latest}
        yours={values}
        isPending={form.isPending}
        failure={failure}
        onSave={(merged) => form.saveMerged(merged, latest)}
        onBack={form.reset}
        onDiscard={onClose}
      />
    )
  const { name } = deployment.application
  return (
    <FormDialog
      title={base === null ? t('deployments.newTitle', name) : t('deployments.editTitle', name)}
      submitText={base === null ? t('kit.create') : t('kit.save')}
      isDirty={JSON.stringify(values) !== JSON.stringify(readValues(base))}
      isPending={form.isPending}
      failure={failure}
      fieldNames={fieldNames}
      onSubmit={form.save}
      onClose={onClose}
    >
      <SpecificationFields
        environment={deployment.environment}
        values={values}
        isWorkloadFixed={base?.scaleToZero === true}
        onChange={form.change}
      />
    </FormDialog>
  )
}
