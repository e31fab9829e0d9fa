#!/bin/bash
# Pretraining on several machines of a Slurm cluster; the same script for every start:
#   sbatch examples/slurm.sh
# Requirements: DATA (from 'elmo prepare') and RUN on a file system that all machines share.
# A job gets a signal 90 seconds before its time limit, saves, and is requeued. If a process or machine fails, torchrun
# restarts all processes from the last checkpoint.
#SBATCH --job-name=elmo-pretrain
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
##SBATCH --gpus-per-node=8         (with GPUs: remove one #, and set PROCESSES below to the same number)
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@90

PROCESSES=${PROCESSES:-2}           # per machine: one per GPU, or on CPUs one per 2 to 8 cores
DATA=${DATA:-data} RUN=${RUN:-run} CONFIG=${CONFIG:-configs/pretrain/small-en.toml}
FIRST=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)

srun --kill-on-bad-exit=0 torchrun \
    --nnodes="$SLURM_JOB_NUM_NODES" --nproc-per-node="$PROCESSES" \
    --rdzv-id="$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}" --rdzv-backend=c10d --rdzv-endpoint="$FIRST:29500" \
    --max-restarts=20 --shutdown-timeout=60 \
    -m elmo pretrain "$CONFIG" --data "$DATA" -o "$RUN" --resume-if-begun &
STEP=$!

# Slurm signals only this script (B:): it passes the signal on, waits until the run is saved, and requeues the job.
warned() {
    kill -TERM "$STEP"
    wait "$STEP"
    scontrol requeue "$SLURM_JOB_ID"
    exit 0
}
trap warned TERM
wait "$STEP"
