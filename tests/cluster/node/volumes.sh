#!/usr/bin/env bash
# Volumes inside a node: a directory and a PersistentVolume for every pending claim of the StorageClass "local" (the
# default), and the removal of both when the claim goes. Volumes are of type `local`, so fsGroup works on them.
#   volumes.sh KUBECONFIG NODE
set -uo pipefail
export KUBECONFIG=$1
node=$2 place=/var/volumes
mkdir -p "$place"

until kubectl apply -f - <<'YAML'; do sleep 0.5; done
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: stackgate.test/directory
YAML

# Each change of a claim or a volume as one line of JSON.
changes() {
  { kubectl get pvc -A --watch -o json & kubectl get pv --watch -o json & wait -n; kill %%; } 2>/dev/null | jq -c --unbuffered .
}

provide() { # CLAIM_JSON
  local name
  name=pvc-$(jq -r .metadata.uid <<<"$1")
  mkdir -p "$place/$name"
  jq --arg name "$name" --arg path "$place/$name" --arg node "$node" '{
    apiVersion: "v1", kind: "PersistentVolume",
    metadata: {name: $name, annotations: {"pv.kubernetes.io/provisioned-by": "stackgate.test/directory"}},
    spec: {capacity: {storage: .spec.resources.requests.storage}, accessModes: .spec.accessModes, storageClassName: "local",
      volumeMode: "Filesystem", persistentVolumeReclaimPolicy: "Retain", local: {path: $path},
      claimRef: {apiVersion: "v1", kind: "PersistentVolumeClaim", name: .metadata.name, namespace: .metadata.namespace, uid: .metadata.uid},
      nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "kubernetes.io/hostname", operator: "In", values: [$node]}]}]}}}}' \
    <<<"$1" | kubectl create -f -
}

while :; do
  changes | while read -r object; do
    case $(jq -r '[.kind, .spec.storageClassName, .status.phase, .spec.volumeName != null] | join(" ")' <<<"$object") in
      "PersistentVolumeClaim local Pending false") provide "$object" ;;
      "PersistentVolume local Released "*)
        name=$(jq -r .metadata.name <<<"$object")
        kubectl delete pv "$name" --wait=false && rm -rf "${place:?}/$name"
        ;;
    esac
  done
  sleep 1 # the API server went away
done
