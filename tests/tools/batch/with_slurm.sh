#!/usr/bin/env bash
# with_slurm.sh FOLDER COMMAND...   runs the command in a Slurm started for it on this machine: one node with four
# CPUs, on loopback, without munge and without root. FOLDER holds its configuration, state and logs.
# Exit status 77: Slurm is not installed or does not start, and standard error says why.
set -uo pipefail
export PATH=$PATH:/usr/sbin:/sbin
folder=$1
shift
skip() {
  echo "with_slurm.sh: $1" >&2
  exit 77
}
for program in slurmctld slurmd sbatch srun sinfo; do
  command -v "$program" >/dev/null || skip "$program (Debian: slurm-wlm) is not installed"
done

# Two free ports.
free_port() {
  local port
  for _ in {1..50}; do
    port=$((20000 + RANDOM % 10000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}
mkdir -p "$folder"/{state,spool}
cat >"$folder/slurm.conf" <<END
ClusterName=vit
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/none
CredType=cred/none
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MailProg=/bin/true
NodeName=node NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$folder/slurm.conf

slurmctld -D >"$folder/controller.out" 2>&1 &
controller=$!
slurmd -D -N node >"$folder/node.out" 2>&1 &
node=$!
stop() {
  kill "$node" "$controller" 2>/dev/null
  wait "$node" "$controller" 2>/dev/null
}
trap stop EXIT
trap 'exit 143' TERM INT

for _ in {1..100}; do
  [[ $(sinfo -h -o %T 2>/dev/null) != idle ]] || ready=true
  [[ -z ${ready:-} ]] || break
  kill -0 "$controller" 2>/dev/null && kill -0 "$node" 2>/dev/null || break
  sleep 0.2
done
[[ -n ${ready:-} ]] || skip "Slurm did not start: $(tail -n 3 "$folder"/slurm*.log "$folder"/*.out 2>/dev/null | tr '\n' ' ')"
"$@"
