package main

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestStepperSkipsToTheNewestBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start := time.Now()
		var judged []int
		free := make(chan bool)
		s := newStepper(func(_ context.Context, at time.Time) {
			judged = append(judged, int(at.Sub(start)/time.Second))
			<-free
		})
		go s.run(ctx)
		s.poke(start)
		synctest.Wait() // the first beat is being judged
		for i := range 5 {
			s.poke(start.Add(time.Duration(i+1) * time.Second)) // none of these may wait
		}
		free <- true
		synctest.Wait()
		free <- true
		synctest.Wait()
		if want := []int{0, 5}; !slices.Equal(judged, want) {
			t.Errorf("judged beats %v, want %v", judged, want)
		}
	})
}
